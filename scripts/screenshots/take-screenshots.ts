import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { views } from './views.ts';

type StorageState = Exclude<BrowserContextOptions['storageState'], undefined>;

export interface Screenshot {
  /** Start of the file name. */
  name: string;
  /** Opens the page to show. */
  prepare(page: Page): Promise<unknown>;
}

/** Maximum height of a picture, in CSS pixels. */
const maxHeight = 1_500;

export interface ScreenshotOptions {
  browser: Browser;
  baseURL: string;
  /** Output folder. */
  folder: string;
  log(line: string): void;
}

/**
 * Takes each screenshot in every view, as `<name>-<screen>-<scheme>.png`.
 * @param storageState the cookies of the session; without them the browser is signed out.
 */
export async function takeScreenshots(
  { browser, baseURL, folder, log }: ScreenshotOptions,
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
      // A window of this height: the bar of a phone is below the content, as on a screen that is scrolled to the end.
      await page.setViewportSize({ width, height: Math.min(Math.max(whole, height), maxHeight) });
      const picture = compress(await page.screenshot({ animations: 'disabled' }));
      await page.setViewportSize({ width, height });
      const file = `${name}-${view}.png`;
      await writeFile(join(folder, file), picture);
      log(`${file}: ${Math.round(picture.length / 1000)} kB`);
    }
    await context.close();
  }
}

/** Reduces a picture to a third with `pngquant`; without that program, returns it unchanged. */
function compress(png: Buffer): Buffer {
  const { status, stdout } = spawnSync('pngquant', ['--quality', '80-98', '--strip', '--speed', '1', '-'], {
    input: png,
    stdio: ['pipe', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
  });
  if (status !== null && status !== 0) throw new Error(`pngquant ended with ${status}`);
  return status === null ? png : stdout;
}
