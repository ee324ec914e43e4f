import type { BrowserContextOptions } from 'playwright-core';
import { findProgram } from '../../src/embedded/find-program.ts';

const browsers = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** The path of a supported browser on this machine, or null. */
export const findBrowser = (): string | null => findProgram(browsers);

export const missingBrowserReason = `none of ${browsers.join(', ')} is on PATH (Debian: apt-get install chromium)`;

/** A regular browser name, because the page of sessions shows it; the default says that the browser is headless. */
const userAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

/** Every page is shown on each of these screens, light and dark. */
const screens = {
  phone: { viewport: { width: 390, height: 780 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
  desktop: { viewport: { width: 1200, height: 760 }, deviceScaleFactor: 1 },
} satisfies Record<string, BrowserContextOptions>;

export const views = Object.entries(screens).flatMap(([screen, options]) =>
  (['light', 'dark'] as const).map((colorScheme) => ({
    name: `${screen}-${colorScheme}`,
    options: {
      ...options,
      colorScheme,
      locale: 'en-GB',
      timezoneId: 'UTC',
      userAgent,
    } satisfies BrowserContextOptions,
  })),
);
