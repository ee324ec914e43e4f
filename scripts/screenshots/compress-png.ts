import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { findPngquant } from './find-programs.ts';

/** Makes a PNG smaller. */
export type CompressPng = (png: Buffer) => Promise<Buffer>;

/** Compresses with a palette. Without `pngquant`, returns pictures unchanged and logs that once. */
export async function createPngCompressor(log: (line: string) => void): Promise<CompressPng> {
  const found = await findPngquant();
  if ('missing' in found) {
    log(`pictures are not compressed, and three times as large: ${found.missing}`);
    return async (png) => png;
  }
  const { path } = found;
  return async (png) => {
    const child = spawn(path, ['--quality', '80-98', '--strip', '--speed', '1', '-'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.end(png);
    const ended = once(child, 'close');
    const smaller = await buffer(child.stdout);
    const [code]: unknown[] = await ended;
    if (code !== 0) throw new Error(`pngquant ended with ${String(code)}`);
    return smaller;
  };
}
