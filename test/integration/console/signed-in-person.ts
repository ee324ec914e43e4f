import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import type { Element } from 'domhandler';
import { findAll, getAttributeValue, textContent } from 'domutils';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import { applyDecisions, undoMs } from '../../../src/services/approvals/stored-decisions.ts';
import { createAccount } from '../../../src/services/people/accounts.ts';
import { createOrganization } from '../../../src/services/people/organizations.ts';
import { joinOrganization } from '../../support/join-organization.ts';
import { findPerson, openSession } from '../../../src/services/people/sessions.ts';
import { findForm, type PageForm, openFormBrowser, type PageResponse } from '../../clients/form-browser.ts';
import { uniqueName } from '../../support/unique-name.ts';
import type { AgentOptions, TestAgent, TestService } from '../../support/service.ts';

/** A name that is unique in this process. */
export function newUsername(stem: string): string {
  return uniqueName(stem);
}

/** A browser with a new account, signed in without the forms. */
export async function signInPerson(
  service: Pick<TestService, 'core' | 'url' | 'register'>,
  username = newUsername('person'),
) {
  const { unitOfWork } = service.core;
  const account = await unitOfWork.write(system, (work) =>
    createAccount(work, { username, password_hash: null }),
  );
  const from = { account_id: account.id, address: '192.0.2.7', user_agent: 'Test/1.0' };
  const { token } = await unitOfWork.write(system, (work) => openSession(work, from));
  const person = await unitOfWork.read(system, (work) => findPerson(work, token, Date.now()));
  if (!person) throw new Error('not signed in');
  const browser = openFormBrowser(service.url);
  browser.cookies.set('ams_session', { value: token, path: '/' });
  return {
    ...browser,
    person,
    username,
    /** An agent of this person, as an operator registers it, and its token. */
    agent: (name = 'agent', options: AgentOptions = {}): Promise<TestAgent> =>
      service.register(
        {
          handle: `${username}.${name}`,
          visibility: options.visibility ?? 'public',
          inbound_policy: options.inbound_policy ?? 'open',
        },
        options,
      ),
  };
}

export type SignedInPerson = Awaited<ReturnType<typeof signInPerson>>;
export type Owner = SignedInPerson & { mine: TestAgent };

/** A new person with an agent. */
export async function signInWithAgent(service: TestService): Promise<Owner> {
  const person = await signInPerson(service);
  return { ...person, mine: await person.agent() };
}

/** An organization with these people. */
export async function createOrganizationOf(
  { core }: TestService,
  people: { admins?: readonly { person: Person }[]; members?: readonly { person: Person }[] },
): Promise<string> {
  const slug = newUsername('org');
  await core.unitOfWork.write(system, async (work) => {
    await createOrganization(work, slug);
    for (const { person } of people.admins ?? [])
      await joinOrganization(work, { slug, username: person.username, role: 'admin' });
    for (const { person } of people.members ?? [])
      await joinOrganization(work, { slug, username: person.username, role: 'member' });
  });
  return slug;
}

/** Carries out the decisions of people that they could undo for five seconds. */
export const applyStoredDecisions = ({ core }: Pick<TestService, 'core'>): Promise<unknown[]> =>
  applyDecisions(core.unitOfWork, Date.now() + undoMs);

/** The error message that a page shows at a field. */
export function findFieldError(page: PageResponse, name: string): string | undefined {
  const field = ['fieldset', 'input', 'textarea', 'select']
    .flatMap((element) => page.elements(element))
    .find((element) => hasName(element, name));
  const ids = (field && getAttributeValue(field, 'aria-describedby'))?.split(' ') ?? [];
  const said = page.elements('p').filter((each) => ids.includes(getAttributeValue(each, 'id') ?? ''));
  return said
    .filter((each) => getAttributeValue(each, 'class') === 'error')
    .map((each) => textContent(each))[0];
}

/** Finds a fieldset by the choices in it. */
function hasName(element: Element, name: string): boolean {
  const has = (each: Element) =>
    getAttributeValue(each, 'name') === name && getAttributeValue(each, 'type') !== 'hidden';
  if (element.name !== 'fieldset') return has(element);
  const isChoice = (each: Element) => ['radio', 'checkbox'].includes(getAttributeValue(each, 'type') ?? '');
  return findAll((each) => has(each) && isChoice(each), element.children).length > 0;
}

/** The values of a form. */
export function readFormFields(page: PageResponse, action: string): Record<string, string> {
  return Object.fromEntries(findForm(page, action).fields);
}

/** A form that need not be on the page: as an attacker who knows the address would send it. */
export function fillForm(page: PageResponse, action: string, fields: Record<string, string> = {}): PageForm {
  const csrf = page.forms.flatMap((form) => form.fields).find(([name]) => name === 'csrf')?.[1] ?? '';
  return { action, fields: Object.entries({ csrf, ...fields }), buttons: [] };
}
