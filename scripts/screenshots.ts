import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { compose } from '../src/compose.ts';
import { loadConfig } from '../src/config.ts';
import { startService } from './demo/start-service.ts';
import { takeAllScreenshots } from './screenshots/take-all.ts';
import { seedService } from './screenshots/seed.ts';
import { findBrowser, missingBrowserReason } from './screenshots/views.ts';
import { runProgram } from './parts/run-program.ts';

const usage = `npm run screenshots: takes screenshots of the pages, for phone and desktop, light and dark.

Starts a service in a temporary folder with two people and their agents, opens the pages in Chromium (Debian:
apt-get install chromium pngquant) and writes PNG files. Removes the service afterwards.

  --out FOLDER   output folder (docs/images)
  --help         this text
`;

await runProgram(async ({ signal, log }) => {
  const { values } = parseArgs({
    options: { out: { type: 'string', default: 'docs/images' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const executablePath = findBrowser();
  if (executablePath === null) throw new Error(missingBrowserReason);
  const own = await startService(log, signal);
  try {
    const folder = resolve(values.out);
    await mkdir(folder, { recursive: true });
    const config = { ...loadConfig(own.env), LOG_LEVEL: 'silent' as const, DATABASE_POOL_SIZE: 2 };
    const core = compose(config, 'screenshots');
    const ids = await seedService(core);
    await core.close();
    const browser = await chromium.launch({ executablePath });
    try {
      await takeAllScreenshots({ browser, folder, baseURL: config.PUBLIC_URL, log }, ids);
    } finally {
      await browser.close();
    }
  } finally {
    await own.stop();
  }
  return 0;
});
