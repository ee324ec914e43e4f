import { expect, test } from 'vitest';
import type { PageParts } from '../../../../src/transports/console/parts.ts';
import { consoleRoutes } from '../../../../src/transports/console/routes.ts';
import type { PageResponse } from '../../../clients/form-browser.ts';
import { useSharedService } from '../../../support/service.ts';
import { fillForm, signInPerson } from '../signed-in-person.ts';

const service = useSharedService();

const parts = { settings: { public_url: 'http://localhost', signup: 'open' } } as unknown as PageParts;
const ofAgents = consoleRoutes(parts).filter(({ path }) => path.startsWith('/console/agents/:id'));

/** The page without the parts that differ between requests. */
function essence({ status, text, headers }: PageResponse): unknown[] {
  const same = text.replaceAll(/req_\w+|[0-9a-f]{8}-[0-9a-f-]{27}/g, 'request');
  return [status, same.replaceAll(/name="csrf" value="[^"]*"/g, 'csrf'), headers.get('location')];
}

test.each(ofAgents.map((route) => [route.method, route.path] as const))(
  '%s %s returns for another owner’s agent the same as for a missing agent',
  async (method, path) => {
    const [owner, stranger] = [await signInPerson(service), await signInPerson(service)];
    const theirs = await owner.agent();
    await stranger.agent();
    const home = await stranger.go('/console');
    const answers = await Promise.all(
      [theirs.id, 'agt_00000000000000000000000000', 'nonsense', '%00'].map(async (id) => {
        const address = path.replace(':id', id);
        const page =
          method === 'GET'
            ? await stranger.go(address)
            : await stranger.send(fillForm(home, address, { handle: theirs.handle, paused: 'true' }));
        return essence(page);
      }),
    );
    expect(answers[0]?.[0]).toBe(404);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    const own = await owner.go(`/console/agents/${theirs.id}/settings`);
    expect(own.visibleText).not.toContain('Paused');
  },
);
