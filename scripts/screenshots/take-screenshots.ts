import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { CompressPng } from './compress-png.ts';
import { views } from './views.ts';

type StorageState = Exclude<BrowserContextOptions['storageState'], undefined>;

export interface Screenshot {
  /** Of the file, before the view. */
  name: string;
  /** Goes to what is to be seen. */
  prepare(page: Page): Promise<unknown>;
}

/** The tallest picture, in pixels of the page. */
const maxHeight = 1_500;

export interface ScreenshotOptions {
  browser: Browser;
  baseURL: string;
  /** Where the pictures go. */
  folder: string;
  compress: CompressPng;
  log(line: string): void;
}

/**
 * Takes each picture in every view, as `<name>-<screen>-<scheme>.png`.
 * @param storageState the cookies of who looks; without them it is a stranger.
 */
export async function takeScreenshots(
  { browser, baseURL, folder, compress, log }: ScreenshotOptions,
  shots: readonly Screenshot[],
  storageState?: StorageState,
): Promise<void> {
  for (const { name: view, options } of views) {
    const context = await browser.newContext({ ...options, baseURL, ...(storageState && { storageState }) });
    const page = await context.newPage();
    for (const { name, prepare } of shots) {
      await prepare(page);
      const { width, height } = options.viewport;
      const whole = Number(await page.evaluate('document.documentElement.scrollHeight'));
      const clip = { x: 0, y: 0, width, height: Math.min(Math.max(whole, height), maxHeight) };
      const picture = await compress(await page.screenshot({ clip, fullPage: true, animations: 'disabled' }));
      const file = `${name}-${view}.png`;
      await writeFile(join(folder, file), picture);
      log(`${file}: ${Math.round(picture.length / 1000)} kB`);
    }
    await context.close();
  }
}
