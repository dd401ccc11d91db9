import { setTimeout } from "node:timers/promises";

// A client for `npm run conformance -- client` as many are written in a hurry: what it gets wrong, the cases must say.
const { STREAM_URL = "" } = process.env;
for (;;) {
  try {
    const { body } = await fetch(STREAM_URL);
    let text = "";
    for await (const chunk of body ?? []) {
      text += new TextDecoder().decode(chunk);
      const frames = text.split("\n\n");
      text = frames.pop() ?? "";
      for (const frame of frames) {
        const [, event = "message"] = /^event: (.*)$/m.exec(frame) ?? [];
        const [, data = ""] = /^data: (.*)$/m.exec(frame) ?? [];
        console.log(JSON.stringify({ event, data }));
      }
    }
  } catch {
    // Again, whatever it was.
  }
  await setTimeout(50);
}
