import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { parseObject } from '../../shared/narrow.ts';
import { withTimeout } from '../../shared/timeout.ts';

/** Returns the last lines of a process that has ended, as `: line | line`; empty if it wrote none. */
export type LastLines = () => Promise<string>;

const maxLines = 3;
const maxCharacters = 8_192;

/** What a process wrote can arrive after its end, and a child of its own can keep the pipe open. */
const endTimeoutMs = 1_000;

/** Passes the standard error of a process on to that of the launcher, and keeps its last lines. */
export function readLastLines({ stderr }: ChildProcess): LastLines {
  let text = '';
  stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    process.stderr.write(chunk);
    text = `${text}${chunk}`.slice(-maxCharacters);
  });
  const ended: Promise<unknown> = stderr ? once(stderr, 'close') : Promise.resolve();
  return async () => {
    await withTimeout(endTimeoutMs, ended, () => undefined);
    const lines = text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !/^(?:at |Node\.js v)/.test(line));
    return lines.length === 0 ? '' : `: ${lines.slice(-maxLines).map(toReadable).join(' | ')}`;
  };
}

/** A line of the log as text: its message, and that of its error. */
function toReadable(line: string): string {
  const { msg, err } = parseObject(line) ?? {};
  if (typeof msg !== 'string') return line;
  const message =
    typeof err === 'object' && err !== null && 'message' in err ? `: ${String(err.message)}` : '';
  return `${msg}${message}`;
}
