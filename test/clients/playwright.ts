import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { findBrowser, missingBrowserReason } from '../../scripts/screenshots/views.ts';
import { describeUnless } from '../support/vitest/describe-unless.ts';

/** The browser of this worker: its files share it, because its start costs more than most of their tests. It ends with the process. */
let shared: Browser | undefined;

/** A suite that needs a headless browser. Its tests open contexts; those that they leave open are closed after the suite. */
export async function describeWithBrowser(
  name: string,
  body: (browser: () => Browser) => void,
): Promise<void> {
  const executablePath = findBrowser();
  if (executablePath === null) {
    describeUnless(missingBrowserReason, name, () => undefined);
    return;
  }
  describeUnless(undefined, name, () => {
    let browser: Browser;
    beforeAll(async () => {
      if (!shared?.isConnected()) shared = await chromium.launch({ executablePath });
      browser = shared;
    });
    afterAll(async () => {
      await Promise.all(browser.contexts().map((context) => context.close()));
    });
    body(() => browser);
  });
}
