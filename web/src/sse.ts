// Server-sent events out of a body: EventSource cannot POST. Only whole events are given; what a cut line left
// half is dropped, and comes again when the stream is taken up behind the last whole one.
export interface Frame {
  event: string;
  data: string;
}

export async function* readFrames(body: ReadableStream<Uint8Array>, signal: AbortSignal, onBytes: () => void): AsyncGenerator<Frame> {
  const reader = body.getReader();
  const leave = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", leave);
  const decoder = new TextDecoder();
  let rest = "";
  let event = "";
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop()!;
      for (const raw of lines) {
        const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
        if (line === "") {
          if (data.length) yield { event: event || "message", data: data.join("\n") };
          event = "";
          data = [];
        } else if (line.startsWith("event:")) event = line.slice(6).trim();
        else if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
      }
    }
  } finally {
    signal.removeEventListener("abort", leave);
    leave();
  }
}
