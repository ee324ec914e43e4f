import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import type { BrowserContext } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { openApproval } from '../../../src/services/approvals/approvals.ts';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { signInPerson } from '../../integration/console/signed-in-person.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { use } from '../../support/use.ts';

/** Records notifications in the page instead of showing them: a headless browser has no desktop. */
const recordNotifications = `
  window.shown = JSON.parse(sessionStorage.getItem('shown') ?? '[]');
  const permission = () => sessionStorage.getItem('permission') ?? 'default';
  window.Notification = class extends EventTarget {
    static get permission() { return permission(); }
    static async requestPermission() { sessionStorage.setItem('permission', 'granted'); return 'granted'; }
    constructor(title) {
      super();
      window.last = this;
      window.shown.push(title);
      sessionStorage.setItem('shown', JSON.stringify(window.shown));
    }
  };`;

await describeWithBrowser('notifications of the browser', (browser) => {
  const service = use(() => startServiceOnFixedPort({}, { worker: false }));
  const contexts: BrowserContext[] = [];
  afterAll(async () => {
    await Promise.all(contexts.map((context) => context.close()));
  });

  async function openPage() {
    const ada = await signInPerson(service);
    const agent = await ada.agent();
    const context = await browser().newContext({ baseURL: service.url });
    contexts.push(context);
    await context.addInitScript(recordNotifications);
    const value = ada.cookies.get('ams_session')?.value ?? '';
    await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
    const page = await context.newPage();
    const shown = () => page.evaluate<string[]>('shown');
    const ask = async () => {
      const target = (await service.agent()).handle;
      const wish = { agent_id: agent.id, action: 'request_contact', target, detail: {} } as const;
      const approval = await service.core.unitOfWork.write(system, (work) => openApproval(work, wish));
      return approval?.id;
    };
    return { context, page, agent, shown, ask };
  }

  test('are shown after the person turns them on and allows them, once for each item, on every page', async () => {
    const { page, agent, shown, ask } = await openPage();
    await page.goto('/console/notifications');
    const faults: string[] = [];
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    const allow = page.getByRole('button', { name: 'Allow notifications in this browser' });
    await page.getByRole('button', { name: 'Turn browser notifications on' }).click();
    await page.getByRole('button', { name: 'Turn browser notifications off' }).waitFor();
    await allow.click();
    await allow.waitFor({ state: 'hidden' });
    const first = await ask();
    await expect.poll(shown).toHaveLength(1);
    expect((await shown())[0]).toContain(`(@${agent.handle}) wants to send a contact request to @`);
    // Another page of the console shows what is new, and not the first item again.
    await page.goto('/console/sessions');
    await ask();
    await expect.poll(shown).toHaveLength(2);
    await page.evaluate(`last.dispatchEvent(new Event('click'))`);
    await page.waitForURL('**/console/approvals/*');
    expect(page.url()).not.toContain(first);
    expect(faults).toEqual([]);
  });

  test('are shown by one page of a browser only', async () => {
    const { context, page, shown, ask } = await openPage();
    await page.goto('/console/notifications');
    await page.getByRole('button', { name: 'Turn browser notifications on' }).click();
    await page.getByRole('button', { name: 'Allow notifications in this browser' }).click();
    const other = await context.newPage();
    await other.goto('/console/account');
    await other.evaluate(`sessionStorage.setItem('permission', 'granted')`);
    await other.reload();
    await ask();
    await expect.poll(shown).toHaveLength(1);
    expect(await other.evaluate<string[]>('shown')).toEqual([]);
    // The other page takes over.
    await page.close();
    await ask();
    await expect.poll(() => other.evaluate<string[]>('shown')).toHaveLength(1);
  });
});
