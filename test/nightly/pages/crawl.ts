import type { Page } from 'playwright-core';
import { z } from 'zod';
import { findPageFaults } from '../../acceptance/pages/page-faults.ts';

/** The parts of an address that differ between pages of one kind. */
const idPattern = /\b[a-z]{2,5}_[0-9A-Za-z]{16,}\b/g;

/** The maximum number of pages checked that differ only in an id. */
const maxPagesPerKind = 2;

const skipNone = '[...document.links].map(({ href }) => href)';
const listLinks = z.array(z.string());

export interface Crawl {
  /** The kinds of pages found, as paths with `{id}`, sorted. */
  kinds: string[];
  faults: string[];
}

/**
 * Follows all links from `start`, and checks each page. Links that leave the service, and
 * those to `skip`, are not followed. A page that does not answer 200 is a fault.
 */
export async function crawl(page: Page, start: string, skip: (path: string) => boolean): Promise<Crawl> {
  const seen = new Set<string>();
  const kinds = new Map<string, number>();
  const faults: string[] = [];
  const waiting = [start];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const kind = path.replaceAll(idPattern, '{id}');
    const before = kinds.get(kind) ?? 0;
    if (seen.has(path) || skip(path) || before === maxPagesPerKind) continue;
    seen.add(path);
    kinds.set(kind, before + 1);
    const response = await page.goto(path);
    if (response?.status() !== 200) faults.push(`${path} answers ${String(response?.status())}`);
    faults.push(...(await findPageFaults(page)));
    const { origin } = new URL(page.url());
    for (const link of listLinks.parse(await page.evaluate(skipNone))) {
      const url = new URL(link);
      if (url.origin === origin) waiting.push(url.pathname + url.search);
    }
  }
  return { kinds: [...kinds.keys()].sort(), faults };
}
