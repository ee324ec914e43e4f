import { openFormBrowser, type FormBrowser } from '../../clients/form-browser.ts';
import { uniqueName } from '../../support/unique-name.ts';
import { startService, type TestService } from '../../support/service.ts';
import { use } from '../../support/use.ts';

export const password = 'seven odd horses';

/** A name that is unique in this process. */
export function newUsername(stem = 'person'): string {
  return uniqueName(stem);
}

export interface SignedInBrowser {
  username: string;
  browser: FormBrowser;
}

/** A service with its pages, for the tests of one file. */
export function useConsole(env: Record<string, string> = {}) {
  const service = use(() => startService({ worker: false, env }));

  return {
    get service(): TestService {
      return service;
    },
    /** Every path of the console that takes this method, with `:name` for parameters. */
    listPaths: (wanted: 'GET' | 'POST') =>
      service.parts.pages.routes.filter(({ method }) => method === wanted).map(({ path }) => path),
    /** A browser without a signed-in user. */
    browser: () => openFormBrowser(service.url),
    /** A new person, signed in. */
    async signUpPerson(username = newUsername()): Promise<SignedInBrowser> {
      const browser = openFormBrowser(service.url);
      await browser.signUp(username, password);
      return { username, browser };
    },
  };
}

/** An agent of a person, registered by an operator. */
export async function createAgentFor(
  service: TestService,
  username: string,
  name: string,
  display_name = name,
) {
  const handle = `${username}.${name}`;
  const profile = { display_name, visibility: 'private', inbound_policy: 'contacts_only' } as const;
  return service.register({ handle, create_owner: false, ...profile });
}
