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

/** WCAG 2.2 at levels A and AA, and best practices. */
const rules = JSON.stringify({
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations'],
});

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/**
 * Adds the script of `pageFaults` to every page of this browser. The pages allow no scripts; the browser's driver injects
 * this one, as an extension would be. It is compiled once; compiling it for each page would take as long as the check.
 */
export async function injectAxe(context: BrowserContext): Promise<void> {
  await context.addInitScript({ path: axe });
}

/** A page, or a frame of one. */
type Shown = Pick<Page, 'evaluate' | 'url'>;

/** The faults of the open page: accessibility violations, and content that does not fit the screen. */
export async function findPageFaults(page: Shown): Promise<string[]> {
  return [...(await findViolations(page)), ...(await findOverflow(page))];
}

async function findViolations(page: Shown): Promise<string[]> {
  const found = result.parse(await page.evaluate(`axe.run(${rules})`));
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary }) => `${pathOf(page)}: ${id} at ${target.join(' ')}: ${failureSummary}`,
    ),
  );
}

async function findOverflow(page: Shown): Promise<string[]> {
  const [whole, screen] = await Promise.all(
    ['scrollWidth', 'clientWidth'].map((edge) => page.evaluate(`document.documentElement.${edge}`)),
  );
  if (Number(whole) <= Number(screen)) return [];
  return [`${pathOf(page)}: is ${String(whole)} wide on a screen of ${String(screen)}`];
}

function pathOf(page: Shown): string {
  return new URL(page.url()).pathname;
}
