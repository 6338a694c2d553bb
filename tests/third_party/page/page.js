// Functions of a web page that the tests call; each returns the audio that was heard as base64 of 32-bit floats.
"use strict";

const RATE = 24000;

function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

function told(samples, label) {
  draw(samples, label);
  return base64(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
}

function draw(samples, label) {
  const canvas = Object.assign(document.createElement("canvas"), { width: 800, height: 60 });
  const pen = canvas.getContext("2d");
  for (let x = 0; x < canvas.width; x++) {
    const part = samples.subarray(x * samples.length / canvas.width, (x + 1) * samples.length / canvas.width);
    const peak = part.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    pen.fillRect(x, 30 - 30 * peak, 1, 60 * peak + 1);
  }
  document.getElementById("heard").append(`${label}, ${(samples.length / RATE).toFixed(3)} s`, canvas);
}

// Decode the whole body of a speech request.
async function fetched(server, text, format, key) {
  const answer = await fetch(`${server}/v1/audio/speech`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(key && { Authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ input: text, response_format: format }),
  });
  if (!answer.ok) return { status: answer.status, ...(await answer.json()).error };
  const context = new OfflineAudioContext(1, 1, RATE);
  const sound = await context.decodeAudioData(await answer.arrayBuffer());
  const rate = answer.headers.get("X-Sample-Rate");  // readable only if the server exposes it
  return { type: answer.headers.get("Content-Type"), rate, samples: told(sound.getChannelData(0), format) };
}

// Run a context of the native stream, with the text sent word by word; return its messages, and pass audio on as it arrives.
function spoken(server, text, format, onSound, key) {
  return new Promise((resolve, reject) => {
    const protocols = key ? ["yuliu", `yuliu.key.${key}`] : [];
    const socket = new WebSocket(`${server.replace("http", "ws")}/v1/stream`, protocols);
    const say = (type, fields) => socket.send(JSON.stringify({ type, context: "a", ...fields }));
    const messages = [];
    socket.binaryType = "arraybuffer";
    socket.onerror = () => reject(new Error("the connection failed"));
    socket.onopen = () => {
      say("start", { format });
      for (const delta of text.match(/\s*\S+|\s+$/g)) say("text", { text: delta });
      say("end");
    };
    socket.onmessage = ({ data }) => {
      if (typeof data !== "string") return onSound(data.slice(16));
      messages.push(JSON.parse(data));
      const { type } = messages.at(-1);
      if (type !== "done" && type !== "error") return undefined;
      socket.onclose = ({ code, wasClean }) => resolve({ messages, code, wasClean });
      return socket.close(1000);
    };
  });
}

// Return PCM over the native stream as samples.
async function spokenPcm(server, text, key) {
  const pieces = [];
  const end = await spoken(server, text, "pcm", (sound) => pieces.push(...new Int16Array(sound)), key);
  return { ...end, samples: told(Float32Array.from(pieces, (sample) => sample / 32768), "native stream, pcm") };
}

// Play a format with a media element as it arrives, and record the output.
async function played(server, text, format, type, onPlaying = () => undefined) {
  if (!MediaSource.isTypeSupported(type)) return { unsupported: type };
  const media = new MediaSource();
  const player = new Audio();
  const recorded = await recorder(player);
  player.src = URL.createObjectURL(media);
  await new Promise((resolve) => media.addEventListener("sourceopen", resolve, { once: true }));
  const buffer = media.addSourceBuffer(type);
  const waiting = [];
  const append = () => { if (waiting.length && !buffer.updating) buffer.appendBuffer(waiting.shift()); };
  buffer.addEventListener("updateend", append);
  player.addEventListener("playing", onPlaying, { once: true });
  const ended = new Promise((resolve, reject) => {
    player.addEventListener("ended", resolve);
    player.addEventListener("error", () => reject(new Error(player.error.message)));
  });
  const playing = player.play();
  const end = await spoken(server, text, format, (sound) => { waiting.push(sound); append(); });
  await playing;
  while (buffer.updating || waiting.length) {
    await new Promise((resolve) => buffer.addEventListener("updateend", resolve, { once: true }));
  }
  media.endOfStream();
  await ended;
  return { ...end, duration_s: media.duration, samples: told(recorded(), `played, ${format}`) };
}

// The same in two parts: until playback starts, and the rest.
let going;
const begun = (...given) => new Promise((resolve, reject) => {
  going = played(...given, () => resolve("playing"));
  going.catch(reject);
});
const rest = () => going;

// Record the output of a media element, without the silence around it.
async function recorder(player) {
  const context = new AudioContext({ sampleRate: RATE });
  const code = `registerProcessor("ear", class extends AudioWorkletProcessor {
    process([[samples]]) { if (samples) this.port.postMessage(samples.slice()); return true; }
  });`;
  await context.audioWorklet.addModule(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  const ear = new AudioWorkletNode(context, "ear");
  const heard = [];
  ear.port.onmessage = ({ data }) => heard.push(...data);
  context.createMediaElementSource(player).connect(ear).connect(context.destination);
  await context.resume();
  return () => {
    context.close();
    const first = heard.findIndex((sample) => Math.abs(sample) > 0.01);
    const last = heard.findLastIndex((sample) => Math.abs(sample) > 0.01);
    return Float32Array.from(heard.slice(first, last + 1));
  };
}

const outcome = (promise) => promise.then(() => "let in", (error) => error.name);

// Return whether a socket opens, with a key or without one.
const streamOutcome = (server, key) => outcome(spoken(server, "Hello.", "pcm", () => undefined, key));

// Return how a page of another origin is refused: no response is readable, no socket opens.
async function refused(server) {
  const body = JSON.stringify({ input: "Hello." });
  const asked = { method: "POST", headers: { "Content-Type": "application/json" }, body };
  return {
    speech: await outcome(fetch(`${server}/v1/audio/speech`, asked)),
    simple: await outcome(fetch(`${server}/v1/audio/speech`, { method: "POST", mode: "no-cors", body })
      .then((answer) => { if (answer.type === "opaque") throw new DOMException("", "Opaque"); })),
    stream: await streamOutcome(server),
  };
}
