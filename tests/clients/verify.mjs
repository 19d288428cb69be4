// Judges deliveries, one line of JSON each: {body, headers, secret}. Prints a verdict of each library.
import { createInterface } from "node:readline";
import { Webhook as Standard } from "standardwebhooks";
import { Webhook as Svix } from "svix";

for await (const line of createInterface({ input: process.stdin })) {
  const { body, headers, secret } = JSON.parse(line);
  const verdicts = [Standard, Svix].map((Webhook) => {
    try {
      new Webhook(secret).verify(body, headers);
      return true;
    } catch {
      return false;
    }
  });
  console.log(JSON.stringify(verdicts));
}
