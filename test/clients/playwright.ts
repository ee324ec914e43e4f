import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { findBrowser } from '../../scripts/screenshots/find-programs.ts';
import { describeUnless } from '../support/vitest/describe-unless.ts';

/** A suite that needs a browser. Starts a headless browser and closes it afterwards. */
export async function describeWithBrowser(
  name: string,
  body: (browser: () => Browser) => void,
): Promise<void> {
  const found = await findBrowser();
  if ('missing' in found) {
    describeUnless(found.missing, name, () => undefined);
    return;
  }
  describeUnless(undefined, name, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: found.path });
    });
    afterAll(() => browser.close());
    body(() => browser);
  });
}
