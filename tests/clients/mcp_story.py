"""Calls the tools of `pressroom-client mcp` by the protocol's own client: in process, over stdio and over HTTP.

python mcp_story.py COMMAND BASE_URL KEY OTHER_KEY PORT prints its observations as one line of JSON. KEY has the scopes
of drafts and posts, OTHER_KEY none of them.
"""

# pyright: reportMissingImports=false
import asyncio
import json
import subprocess
import sys
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from pressroom_client.mcp_server import make_server

POSTS = {"method": "tools/list", "jsonrpc": "2.0", "id": 1}
PATIENCE = 60
HELD: list[asyncio.StreamWriter] = []
ACCEPTS = {"Accept": "application/json, text/event-stream"}


async def told(client: Any) -> dict[str, Any]:
    """Tells the story over one transport."""
    tools = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
    account = await client.call_tool("whoami", {})
    post = await client.call_tool("publish_post", {"content": "By a model", "idempotency_key": "model-1"})
    again = await client.call_tool("publish_post", {"content": "By a model", "idempotency_key": "model-1"})
    draft = await client.call_tool("create_draft", {"content": "For approval"})
    refused = await client.call_tool("delete_post", {"post_id": structured(post)["id"]})
    comments = await client.call_tool("list_comments", {"post_id": structured(post)["id"]})
    return {
        "tools": sorted(tools),
        "reads": sorted(name for name, hints in tools.items() if hints.read_only_hint),
        "destroys": sorted(name for name, hints in tools.items() if hints.destructive_hint),
        "account": structured(account)["username"],
        "same": structured(post)["id"] == structured(again)["id"],
        "draft": [structured(draft)["state"], structured(draft)["needsApproval"]],
        "refused": [refused.is_error, refused.content[0].text],
        "notice": "data" in structured(comments)["notice"],
    }


def structured(result: Any) -> dict[str, Any]:
    """The answer of a tool."""
    assert not result.is_error, result.content
    return result.structured_content


async def in_process(base_url: str, key: str) -> dict[str, Any]:
    """Over no transport."""
    async with Client(make_server(base_url, key)) as client:
        return await told(client)


async def over_stdio(command: str, base_url: str, key: str) -> dict[str, Any]:
    """As a child process."""
    environment = {"PRESSROOM_URL": base_url, "PRESSROOM_API_KEY": key}
    async with Client(StdioServerParameters(command=command, args=["mcp"], env=environment)) as client:
        return await told(client)


async def over_http(base_url: str, key: str) -> dict[str, Any]:
    """With the key in each request."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http,
        Client(streamable_http_client(base_url, http_client=http)) as client,
    ):
        return await told(client)


async def foreign(address: str) -> int:
    """The status of a request from a page of another origin."""
    async with httpx2.AsyncClient() as http:
        headers = {**ACCEPTS, "Origin": "https://elsewhere.example"}
        return (await http.post(address, json=POSTS, headers=headers)).status_code


async def until_up(port: int) -> None:
    """Waits until the server takes connections."""
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return


async def hold_stream(port: int) -> str:
    """Opens a stream that stays open, and returns the first line of its answer: no stop may wait for it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    HELD.append(writer)
    writer.write(f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\n\r\n".encode())
    return (await reader.readline()).decode()


async def main(command: str, base_url: str, key: str, other: str, port: str) -> None:
    """Tells the story over each transport."""
    address = f"http://127.0.0.1:{port}/mcp"
    server = subprocess.Popen([command, "--url", base_url, "mcp", "--http", f"127.0.0.1:{port}"])
    try:
        await until_up(int(port))
        async with Client(make_server(base_url, other)) as client:
            lacking = (await client.call_tool("create_draft", {"content": "x"})).content[0].text
        seen = {
            "in process": await in_process(base_url, key),
            "stdio": await over_stdio(command, base_url, key),
            "http": await over_http(address, key),
            "foreign": await foreign(address),
            "lacking": lacking,
            "held": await hold_stream(int(port)),
        }
    finally:
        server.terminate()
        server.wait(PATIENCE)
    print(json.dumps(seen))


if __name__ == "__main__":
    asyncio.run(asyncio.wait_for(main(*sys.argv[1:]), PATIENCE))
