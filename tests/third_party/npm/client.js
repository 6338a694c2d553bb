// OpenAI's client for JavaScript, run beside the tests: requests as lines of JSON in, results out.
//     node client.js http://127.0.0.1:8000/v1
const { createInterface } = require("node:readline");
const OpenAI = require("openai").default;

async function speak(client, asked) {
  const stop = new AbortController();
  const given = { timeout: asked.timeout_ms ?? 20_000, signal: stop.signal };
  const answer = await client.audio.speech.create({ model: "tts-1", voice: "alloy", ...asked.fields }, given);
  const type = answer.headers.get("content-type");
  if (asked.whole) {
    return { type, sound: Buffer.from(await answer.arrayBuffer()).toString("base64"), num_pieces: 1 };
  }
  const pieces = [];
  let num_bytes = 0;
  try {
    for await (const piece of answer.body) {
      pieces.push(Buffer.from(piece));
      num_bytes += piece.length;
      if (num_bytes >= asked.stop_after_bytes) stop.abort();
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  return { type, sound: Buffer.concat(pieces).toString("base64"), num_pieces: pieces.length };
}

async function main() {
  for await (const line of createInterface({ input: process.stdin })) {
    const asked = JSON.parse(line);
    const client = new OpenAI({
      baseURL: process.argv[2], apiKey: asked.key ?? "none", maxRetries: asked.num_retries ?? 0,
    });
    let told;
    try {
      told = asked.model ? await client.models.retrieve(asked.model) : await speak(client, asked);
    } catch (error) {
      told = { error: error.constructor.name, status: error.status ?? null, code: error.code ?? null };
    }
    process.stdout.write(JSON.stringify(told) + "\n");
  }
}

main();
