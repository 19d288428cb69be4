// Prints the events that the TypeScript client iterates over, a line of JSON each.
// node read_events.mjs CLIENT BASE_URL KEY AFTER
const [, , client, baseUrl, key, after] = process.argv
const { Pressroom } = await import(client)
for await (const found of new Pressroom(baseUrl, key).events(after)) console.log(JSON.stringify(found))
