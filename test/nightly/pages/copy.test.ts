import { expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { useSharedService } from '../../support/service.ts';
import { signInPerson } from '../../integration/console/signed-in-person.ts';

await describeWithBrowser('texts to copy', (browser) => {
  const service = useSharedService();

  test('a button copies the program of the first page', async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const context = await browser().newContext({ baseURL: service.url, permissions });
    const page = await context.newPage();
    await page.goto('/');
    const program = page.getByRole('region', { name: 'Program that sends a message' });
    await page.getByRole('button', { name: 'Copy' }).nth(1).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await program.textContent());
    await context.close();
  });

  test('the button selects the text where a browser refuses the clipboard', async () => {
    const context = await browser().newContext({ baseURL: service.url });
    await context.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })');
    const page = await context.newPage();
    await page.goto('/');
    await page.getByRole('button', { name: 'Copy' }).nth(1).click();
    await page.getByRole('button', { name: /Copied|Selected/ }).waitFor();
    expect(await page.evaluate('String(getSelection())')).toContain('createClient');
    await context.close();
  });

  test('a person looks at the password while signing in, and the browser still takes it for one', async () => {
    const context = await browser().newContext({ baseURL: service.url });
    const page = await context.newPage();
    await page.goto('/sign-in');
    const field = page.getByRole('textbox', { name: 'Password' });
    await field.fill('a long phrase');
    expect(await field.getAttribute('type')).toBe('password');
    await page.getByRole('checkbox', { name: 'Show characters' }).check();
    expect(await field.getAttribute('type')).toBe('text');
    await page.getByRole('checkbox', { name: 'Show characters' }).uncheck();
    expect(await field.getAttribute('type')).toBe('password');
    await context.close();
  });

  test('without scripts there is no button, and the page that connects an agent is whole', async () => {
    const ada = await signInPerson(service);
    const { id } = await ada.agent();
    const context = await browser().newContext({ baseURL: service.url, javaScriptEnabled: false });
    const token = ada.cookies.get('ams_session')?.value ?? '';
    await context.addCookies([{ name: 'ams_session', value: token, url: service.url }]);
    const page = await context.newPage();
    await page.goto(`/console/agents/${id}`);
    await page.getByRole('link', { name: 'Connect', exact: true }).click();
    await page.getByRole('link', { name: 'Python' }).click();
    await page.getByText('from agent_messaging import Client').waitFor();
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
    await context.close();
  });
});
