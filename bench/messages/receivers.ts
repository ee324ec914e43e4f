import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { WebSocket } from 'ws';
import type { Member, Thread } from '../population.ts';
import { withTimeout } from '../with-timeout.ts';

export interface Receivers {
  /** Message frames received so far, on all sockets. */
  frames(): number;
  /** How often the socket of a member received the message with this number. */
  received(member: Member, number: number): number;
  /** Sets the callback for each message frame on arrival. */
  onFrame(listen: (member: Member, number: number, at: number) => void): void;
  close(): Promise<void>;
}

const digits = 9;
const timeoutMs = 15_000;
const numberMarker = '"content":"#';

/** A message content of about 200 bytes that starts with its number. */
export function buildNumberedContent(number: number, text = 'lorem ipsum dolor sit amet '.repeat(7)): string {
  return `#${String(number).padStart(digits, '0')} ${text}`;
}

/** Opens the WebSocket of every member and counts frames. `lost` is called when a socket closes before `close`. */
export async function openReceivers(
  base: string,
  threads: readonly Thread[],
  parts: { signal: AbortSignal; lost: (reason: Error) => void },
): Promise<Receivers> {
  const url = `${base.replace(/^http/, 'ws')}/ws`;
  const counts = new Map<string, Map<number, number>>();
  const sockets: WebSocket[] = [];
  let frames = 0;
  let closing = false;
  let onMessageFrame: (member: Member, number: number, at: number) => void = () => undefined;

  async function open(member: Member): Promise<void> {
    const seen = new Map<number, number>();
    counts.set(member.id, seen);
    const ws = new WebSocket(url, {
      headers: { Authorization: `Bearer ${member.token}` },
      perMessageDeflate: false,
    });
    sockets.push(ws);
    await withTimeout(`the first frame of ${member.handle}`, timeoutMs, once(ws, 'message'), parts.signal);
    ws.on('error', (error) =>
      parts.lost(new Error(`the socket of ${member.handle} failed: ${error.message}`)),
    );
    ws.on('close', (code) => {
      if (!closing) parts.lost(new Error(`the API closed the socket of ${member.handle} (${code})`));
    });
    ws.on('message', (data: Buffer) => {
      const at = performance.now();
      const start = data.indexOf(numberMarker);
      if (start < 0) return;
      const number = Number(
        data.toString('latin1', start + numberMarker.length, start + numberMarker.length + digits),
      );
      frames += 1;
      seen.set(number, (seen.get(number) ?? 0) + 1);
      onMessageFrame(member, number, at);
    });
  }
  const members = new Map(threads.flatMap((thread) => thread.members.map((member) => [member.id, member])));
  await Promise.all([...members.values()].map(open));

  return {
    frames: () => frames,
    received: (member, number) => counts.get(member.id)?.get(number) ?? 0,
    onFrame(listen) {
      onMessageFrame = listen;
    },
    async close() {
      closing = true;
      const rest = sockets.filter(({ readyState }) => readyState !== WebSocket.CLOSED);
      const ends = rest.map((ws) => once(ws, 'close'));
      for (const ws of rest) ws.terminate();
      await withTimeout('the sockets to close', timeoutMs, Promise.all(ends));
    },
  };
}
