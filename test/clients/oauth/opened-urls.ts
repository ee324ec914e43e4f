import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { listen } from '../../support/servers/listen.ts';

/** Replaces a desktop's browser: records each address that a program opens through `BROWSER`. */
export async function captureOpenedUrls() {
  const addresses: string[] = [];
  let wake = () => {};
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    addresses.push(await text(request));
    response.end();
    wake();
  }
  const server = createServer((request, response) => void receive(request, response));
  const { url, close } = await listen(server);

  const folder = await mkdtemp(join(tmpdir(), 'ams-browser-'));
  const program = join(folder, 'browser');
  const script = `fetch('${url}', { method: 'POST', body: process.argv[2] });`;
  await writeFile(program, `#!${process.execPath}\n${script}\n`);
  await chmod(program, 0o700);

  return {
    /** What the program is started with. */
    env: { BROWSER: program },
    async next(): Promise<string> {
      for (;;) {
        const address = addresses.shift();
        if (address !== undefined) return address;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    async close() {
      await close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
