import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';
import { z } from 'zod';

const result = z.object({
  violations: z.array(
    z.object({
      id: z.string(),
      nodes: z.array(z.object({ target: z.array(z.unknown()), failureSummary: z.string() })),
    }),
  ),
});

/** WCAG 2.2 at levels A and AA, and what is good practice beside it. */
const rules = JSON.stringify({
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations'],
});

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/**
 * Has every page of this browser come with what `pageFaults` asks. The pages allow no scripts; this one is put in by the browser's
 * driver, as an extension is. Sent once, it is compiled once: for each page anew that takes as long as the look itself.
 */
export async function injectAxe(context: BrowserContext): Promise<void> {
  await context.addInitScript({ path: axe });
}

/** What is wrong with the page that is open: for whoever cannot see it well, and with what does not fit the screen. */
export async function findPageFaults(page: Page): Promise<string[]> {
  const found = result.parse(await page.evaluate(`axe.run(${rules})`));
  const faults = found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary}`),
  );
  const [whole, screen] = await Promise.all(
    ['scrollWidth', 'clientWidth'].map((edge) => page.evaluate(`document.documentElement.${edge}`)),
  );
  if (Number(whole) > Number(screen))
    faults.push(`is ${String(whole)} wide on a screen of ${String(screen)}`);
  const { pathname } = new URL(page.url());
  return faults.map((fault) => `${pathname}: ${fault}`);
}
