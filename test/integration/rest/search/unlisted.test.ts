import { expect, test } from 'vitest';
import { type RestResponse } from '../../../clients/rest.ts';
import { useSharedService } from '../../../support/service.ts';

const service = useSharedService();

function get(path: string, { q }: { q: string }, token: string): Promise<RestResponse> {
  return service.get({ token }, `${path}?q=${encodeURIComponent(q)}`);
}

test('an unlisted agent is found only by its exact handle, and only by agents with a relation to it', async () => {
  const me = await service.register({ handle: 'seeking.own', inbound_policy: 'open', create_owner: true });
  const stranger = await service.register({ handle: 'elsewhere.own', create_owner: true });
  const handles = ['tapir-contact.x', 'tapir-member.x', 'tapir-asking.x', 'seeking.tapir-kin'];
  const tokens = new Map<string, string>();
  for (const handle of handles) {
    const visibility = 'unlisted';
    const display_name = `Tapir ${handle}`;
    const one = await service.register({ handle, display_name, visibility, create_owner: true });
    tokens.set(handle, one.token);
  }
  const post = async (path: string, token: string, body: object = {}) => {
    const { status, text } = await service.post({ token }, path, body);
    expect(status, text).toBeLessThan(300);
  };
  const tokenOf = (handle: string) => tokens.get(handle) ?? '';
  await post('/contacts/requests', tokenOf('tapir-contact.x'), { handle: me.handle });
  await post('/contacts/requests/tapir-contact.x/approve', me.token);
  await post('/threads', tokenOf('tapir-member.x'), { with_handle: me.handle });
  await post('/contacts/requests', tokenOf('tapir-asking.x'), { handle: me.handle });

  const search = async (q: string, token: string) => {
    const [both, agents, directory] = await Promise.all(
      ['/search', '/search/agents', '/search/directory'].map((path) => get(path, { q }, token)),
    );
    const handlesOf = (list: { canonical_handle: string }[]) => list.map((one) => one.canonical_handle);
    expect(agents?.body.agents).toEqual(both?.body.agents);
    expect(directory?.body.agents).toEqual(both?.body.agents);
    return { agents: handlesOf(both?.body.agents), contacts: handlesOf(both?.body.contacts) };
  };
  for (const handle of handles) {
    const contacts = ['tapir-contact.x', 'seeking.tapir-kin'].filter((contact) => contact === handle);
    for (const q of [handle, `@${handle.toUpperCase()}`])
      expect(await search(q, me.token), q).toEqual({ agents: expect.arrayContaining([handle]), contacts });
    expect((await search(handle, stranger.token)).agents, handle).not.toContain(handle);
    for (const q of [handle.slice(0, -1), `Tapir ${handle}`, handle.replace('tapir', 'tapier')])
      expect((await search(q, me.token)).agents, q).not.toContain(handle);
  }
  expect(await search('tapir', me.token)).toEqual({ agents: [], contacts: [] });
  // The directory does not show their people to strangers either.
  const { body } = await get('/search/directory', { q: 'tapir-contact' }, stranger.token);
  expect(body.people).not.toContainEqual(expect.objectContaining({ username: 'tapir-contact' }));
});
