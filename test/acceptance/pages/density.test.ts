import { expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { sendTo, startThread } from '../../integration/console/conversations/conversation-fixtures.ts';
import { signInPerson } from '../../integration/console/signed-in-person.ts';
import { useSharedService } from '../../support/service.ts';

await describeWithBrowser('the density of conversations', (browser) => {
  const service = useSharedService();

  test.each([
    { width: 1920, rows: 14 },
    { width: 1280, rows: 14 },
    { width: 390, rows: 12 },
  ])('the first message of a run, with one line, takes at most 64 px at $width px', async (screen) => {
    const ada = await signInPerson(service);
    const [mine, own, other] = [await ada.agent(), await ada.agent('second'), await service.agent()];
    let thread = '';
    for (let number = 1; number <= 20; number += 1)
      thread = await startThread(service, other, number % 2 === 0 ? [mine, own] : [mine], {
        subject: `Number ${number}`,
      });
    for (const sender of [mine, other, own, other]) await sendTo(service, sender, thread, 'One line of text');
    await sendTo(service, other, thread, '**One** line', { content_type: 'markdown' });
    const viewport = { width: screen.width, height: 900 };
    const context = await browser().newContext({ baseURL: service.url, viewport });
    const value = ada.cookies.get('ams_session')?.value ?? '';
    await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
    const page = await context.newPage();
    const boxesOf = async (selector: string) => {
      const boxes = await Promise.all((await page.locator(selector).all()).map((each) => each.boundingBox()));
      return boxes.flatMap((box) => box ?? []);
    };
    const highest = (boxes: readonly { height: number }[]) => Math.max(...boxes.map(({ height }) => height));
    await page.goto('/console/conversations');
    const rows = await boxesOf('.thread');
    expect(rows).toHaveLength(20);
    expect(highest(rows)).toBeLessThanOrEqual(56);
    const [bar] = await boxesOf('.navigation');
    const end = bar && bar.y > 450 ? bar.y : 900;
    expect(rows.filter(({ y, height }) => y + height <= end).length).toBeGreaterThanOrEqual(screen.rows);
    await page.goto(`/console/conversations/${thread}`);
    const messages = await boxesOf('li.message.run');
    expect(messages).toHaveLength(5);
    expect(highest(messages)).toBeLessThanOrEqual(64);
    await context.close();
  });

  test.each([1024, 1280])('the buttons of missing answers fit at %s px', async (width) => {
    const ada = await signInPerson(service);
    const [mine, own] = [await ada.agent('accounting'), await ada.agent('procurement')];
    await startThread(service, mine, [own], { subject: 'Offer', content: 'Which of the offers? '.repeat(9) });
    const context = await browser().newContext({ baseURL: service.url, viewport: { width, height: 900 } });
    const value = ada.cookies.get('ams_session')?.value ?? '';
    await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
    const page = await context.newPage();
    await page.goto('/console/waits');
    await page.getByRole('button', { name: 'Stop waiting' }).waitFor();
    const region = "document.querySelector('.table')";
    expect(await page.evaluate(`${region}.scrollWidth - ${region}.clientWidth`)).toBe(0);
    await context.close();
  });

  test('a phone cuts an Arabic name at its end, and has the button that sends at the right', async () => {
    const ada = await signInPerson(service);
    const [mine, other] = [await ada.agent(), await service.agent()];
    await service.patch(other, '/agents/me', { display_name: 'مترجم عربي للعقود والرسائل الطويلة جدا' });
    const id = await startThread(service, other, [mine]);
    const context = await browser().newContext({
      baseURL: service.url,
      viewport: { width: 390, height: 900 },
    });
    const value = ada.cookies.get('ams_session')?.value ?? '';
    await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
    const page = await context.newPage();
    await page.goto(`/console/conversations/${id}`);
    const name = "document.querySelector('.sender bdi')";
    expect(await page.evaluate(`${name}.scrollWidth > ${name}.clientWidth`)).toBe(true);
    const boxOf = (button: string) => page.getByRole('button', { name: button, exact: true }).boundingBox();
    const [preview, send] = [await boxOf('Preview'), await boxOf('Send')];
    expect([send?.y, (send?.x ?? 0) + (send?.width ?? 0)]).toEqual([preview?.y, 374]);
    await context.close();
  });

  test('a message that a person wrote has its whole sender at 390 px', async () => {
    const ada = await signInPerson(service);
    const id = await startThread(service, await service.agent(), [await ada.agent('bo')]);
    const address = `/console/conversations/${id}`;
    await ada.fill(address, { fields: { content: 'I do.' } }, `${address}/messages`);
    const viewport = { width: 390, height: 900 };
    const context = await browser().newContext({ baseURL: service.url, viewport });
    const value = ada.cookies.get('ams_session')?.value ?? '';
    await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
    const page = await context.newPage();
    await page.goto(address);
    const sender = '.sender:has(.badge)';
    const cut = `[...document.querySelectorAll('${sender} > *')].filter((each) => each.scrollWidth > each.clientWidth).length`;
    expect(await page.evaluate(cut)).toBe(0);
    expect((await page.locator(sender).boundingBox())?.height).toBeLessThanOrEqual(44);
    await context.close();
  });
});
