import { textContent } from 'domutils';
import { findForm, openFormBrowser, type PageResponse } from '../../clients/form-browser.ts';
import { maintenanceHandler } from '../../../workers/maintenance/tasks.ts';
import type { TestAgent, TestService } from '../../support/service.ts';
import { startThread } from '../console/conversations/conversation-fixtures.ts';
import { type SignedInPerson, signInPerson } from '../console/signed-in-person.ts';

/** A person whose agent talks with a stranger. */
export async function createWatchedWorld(service: TestService) {
  const ada = await signInPerson(service);
  const [mine, other] = [await ada.agent(), await service.agent()];
  const thread = await startThread(service, other, [mine], { content: 'The first word', subject: 'Parts' });
  return { ada, mine, other, thread };
}

export const linksAddress = (thread: string): string => `/console/conversations/${thread}/watch`;

/** Makes a link with the form of the console. Returns its path. */
export async function share(
  person: SignedInPerson,
  thread: string,
  agent: Pick<TestAgent, 'id'>,
  fields: Record<string, string> = {},
): Promise<string> {
  const page = await sendShareForm(person, thread, { agent_id: agent.id, ...fields });
  const [address = ''] = page.elements('output').map((element) => textContent(element));
  if (!URL.canParse(address)) throw new Error(`no link: ${page.status} ${page.visibleText}`);
  return new URL(address).pathname;
}

export async function sendShareForm(
  person: SignedInPerson,
  thread: string,
  fields: Record<string, string>,
): Promise<PageResponse> {
  const address = linksAddress(thread);
  return person.send(findForm(await person.go(address), address), { fields });
}

/** A browser of somebody without an account. */
export const openAsStranger = (service: TestService, path: string, headers: Record<string, string> = {}) =>
  openFormBrowser(service.url).go(path, { headers });

/** Lets a link expire, without waiting for it. */
export async function expireLinks(service: TestService, thread: string): Promise<void> {
  await service.sql('update watch_links set expires_at = $1 where thread_id = $2', [Date.now(), thread]);
}

/** Runs the maintenance that tells members of links that work no more. */
export const maintain = (service: TestService) =>
  maintenanceHandler(service.core).handle({ task: 'end-watch-links' });
