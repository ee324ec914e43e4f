import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { compose } from '../src/compose.ts';
import { loadConfig } from '../src/config.ts';
import { toOneLine } from '../src/embedded/launcher-error.ts';
import { startService } from './demo/start-service.ts';
import { findBrowser } from './screenshots/find-programs.ts';
import { createPngCompressor } from './screenshots/compress-png.ts';
import { takeAllScreenshots } from './screenshots/take-all.ts';
import { seedService } from './screenshots/seed.ts';

const usage = `npm run screenshots: takes screenshots of the pages, for phone and desktop, light and dark.

Starts a service in a temporary folder with two people and their agents, opens the pages in Chromium (Debian:
apt-get install chromium pngquant) and writes PNG files. Removes the service afterwards.

  --out FOLDER   output folder (docs/images)
  --help         this text
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { out: { type: 'string', default: 'docs/images' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const found = await findBrowser();
  if ('missing' in found) throw new Error(found.missing);
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());
  const log = (line: string) => void process.stderr.write(`${line}\n`);

  const own = await startService(log, interrupted.signal);
  try {
    const folder = resolve(values.out);
    await mkdir(folder, { recursive: true });
    const config = { ...loadConfig(own.env), LOG_LEVEL: 'silent' as const, DATABASE_POOL_SIZE: 2 };
    const core = compose(config, 'screenshots');
    const ids = await seedService(core);
    await core.close();
    const browser = await chromium.launch({ executablePath: found.path });
    try {
      const options = {
        browser,
        folder,
        baseURL: config.PUBLIC_URL,
        compress: await createPngCompressor(log),
        log,
      };
      await takeAllScreenshots(options, ids);
    } finally {
      await browser.close();
    }
  } finally {
    await own.stop();
  }
}

process.exit(
  await main().then(
    () => 0,
    (error: unknown) => {
      process.stderr.write(`${toOneLine(error)}\n`);
      return 1;
    },
  ),
);
