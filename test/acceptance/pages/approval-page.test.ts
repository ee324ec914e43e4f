import { expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { createConversation, sendTo } from '../../integration/console/conversations/conversation-fixtures.ts';
import { applyStoredDecisions } from '../../integration/console/signed-in-person.ts';
import { idOf, reviewsOf } from '../../integration/reviews/setup.ts';
import { useSharedService } from '../../support/service.ts';

/** Waits until the page has rendered an update. The pages allow no scripts; the browser's driver runs this one. */
const nextUpdate = `new Promise((resolve) =>
  addEventListener('turbo:before-stream-render', ({ detail }) => {
    const { render } = detail;
    detail.render = async (stream) => { await render(stream); resolve(); };
  }, { once: true }))`;

await describeWithBrowser('the open page of a review', (browser) => {
  const service = useSharedService();

  test('keeps what the person edits while it is updated, and follows the decision', async () => {
    const { setPolicy, send } = reviewsOf(service);
    const { ada, mine, other, id } = await createConversation(service, 'When?');
    await setPolicy(mine, 'review_all');
    const review = idOf(await send(mine, id, { content: 'On Monday.' }));
    const context = await browser().newContext({ baseURL: service.url });
    const value = ada.cookies.get('ams_session')?.value ?? '';
    await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
    const page = await context.newPage();
    await page.goto(`/console/approvals/${review}`);
    const [text, reason] = [page.getByLabel('Message', { exact: true }), page.getByLabel('Reason')];
    await reason.fill('Too early');
    await text.fill('On Tuesday.');
    const update = page.evaluate(nextUpdate);
    await sendTo(service, other, id, 'I need to know.');
    await update;
    expect(await text.inputValue()).toBe('On Tuesday.');
    expect(await reason.inputValue()).toBe('Too early');
    expect(await text.evaluate('document.activeElement.name')).toBe('text_0');
    await page.getByRole('button', { name: 'Approve and send' }).click();
    await page.getByText('The decision takes effect within seconds.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    expect(await text.count()).toBe(0);
    await applyStoredDecisions(service);
    await page.getByText('approved it, and it was done.').waitFor();
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    expect(await page.getByText('Until then you can undo it.').count()).toBe(1);
    await page.goto(`/console/conversations/${id}`);
    await page.locator('#messages').getByText('On Tuesday.').waitFor();
    await context.close();
  });
});
