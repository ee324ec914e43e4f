import { expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { sendTo, startThread } from '../../integration/console/conversations/conversation-fixtures.ts';
import { signInPerson } from '../../integration/console/signed-in-person.ts';
import { useSharedService } from '../../support/service.ts';
import { findPageFaults, injectAxe } from './page-faults.ts';

const table = (...rows: string[][]) =>
  rows
    .flatMap((row, at) => [`| ${row.join(' | ')} |`, ...(at === 0 ? [`|${'---|'.repeat(row.length)}`] : [])])
    .join('\n');

const prices = table(
  ['Offer', 'What it includes', 'Price'],
  [
    'Starter',
    'Translation of the whole catalog with a review by two people, and one round of changes',
    '€1,299.00',
  ],
  [
    'Enterprise',
    'The same in four languages, with a glossary that both sides agree on before the start',
    '€12,999.00',
  ],
);
const months = Array.from({ length: 24 }, (_, month) => `Month${month}`);
const wide = table(
  months,
  months.map((name) => `Total${name}`),
);
const longWord = table(['Key', 'Value'], ['digest', 'f'.repeat(300)]);

/** The words of the tables of a page that are in more than one line. */
const brokenWords = `[...document.querySelectorAll('.wide-table :is(th, td)')].flatMap((cell) => {
  const text = cell.firstChild;
  return [...text.data.matchAll(/\\S+/g)].flatMap(({ 0: word, index }) => {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1 ? [word] : [];
  });
})`;

await describeWithBrowser('tables that users write', (browser) => {
  const service = useSharedService();

  test.each([390, 1280])('break no word that fits, and scroll with the keyboard, at %d px', async (width) => {
    const ada = await signInPerson(service);
    const [mine, other] = [await ada.agent(), await service.agent()];
    const thread = await startThread(service, other, [mine], { subject: 'Offer' });
    for (const content of [prices, wide, longWord])
      await sendTo(service, other, thread, content, { content_type: 'markdown' });
    await service.core.database.query({ text: 'update agents set card_body = $1 where id = $2' }, [
      [prices, wide, longWord, `\`\`\`\n${'code '.repeat(100)}\n\`\`\``].join('\n\n'),
      mine.id,
    ]);
    const context = await browser().newContext({ baseURL: service.url, viewport: { width, height: 844 } });
    await injectAxe(context);
    const value = ada.cookies.get('ams_session')?.value ?? '';
    await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
    const page = await context.newPage();
    const card = `/v1/agents/${mine.handle.replace('.', '/')}/card`;
    for (const path of [`/console/conversations/${thread}`, card]) {
      await page.goto(path);
      expect(await page.evaluate(brokenWords), path).toEqual(['f'.repeat(300)]);
      expect(await findPageFaults(page)).toEqual([]);
      const scrolling = page.locator('.wide-table').nth(1);
      await scrolling.focus();
      await page.keyboard.press('ArrowRight');
      await expect
        .poll(() => scrolling.evaluate((element) => (element as { scrollLeft?: number }).scrollLeft))
        .toBeGreaterThan(0);
    }
    await context.close();
  });
});
