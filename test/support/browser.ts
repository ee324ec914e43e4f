import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { describeUnless } from './leave-out.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** Where the browser is, or why there is none. */
export async function findBrowser(): Promise<{ path: string } | { missing: string }> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    for (const name of names) {
      const path = join(folder, name);
      if (folder && (await isExecutable(path))) return { path };
    }
  }
  return { missing: `none of ${names.join(', ')} on PATH (Debian: apt-get install chromium)` };
}

/** Starts a headless browser of the caller's own. It ends with the test process, however that ends. */
export async function startBrowser(): Promise<Browser> {
  const found = await findBrowser();
  if ('missing' in found) throw new Error(found.missing);
  return chromium.launch({ executablePath: found.path });
}

/** A suite that needs a browser; one is started for it and closed behind it. */
export async function describeWithBrowser(
  name: string,
  body: (browser: () => Browser) => void,
): Promise<void> {
  const found = await findBrowser();
  describeUnless('missing' in found ? found.missing : undefined, name, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await startBrowser();
    });
    afterAll(() => browser.close());
    body(() => browser);
  });
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
