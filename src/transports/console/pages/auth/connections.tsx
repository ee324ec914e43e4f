import { type Connection, endConnection, listConnections } from '../../../../services/auth/connections.ts';
import { isOwnClient } from '../../../http/authorization-requests.ts';
import { Handle, Time } from '../../components/rows.tsx';
import { Badge } from '../../components/content.tsx';
import { toPage } from '../../define/list.tsx';
import { definePage } from '../../define/page.tsx';
import { hostOf } from '../../hosts.ts';
import { Scopes } from './scopes.tsx';

const pageSize = 25;

/** The apps connected to a person's agents, and disconnecting them. */
export const connectionsPage = definePage({
  path: '/console/connections',
  title: 'Connected apps',
  lead: 'Apps that you allowed to act as one of your agents. Disconnecting an app ends its access immediately. Webhooks that it created stay with the agent.',
  sections: ({ list }) => [
    list({
      label: 'Connected apps',
      noun: 'apps',
      empty: {
        title: 'No apps yet',
        text: 'Enter the address of this service in an app. The app then asks you here for permission.',
      },
      async read({ read, person, query }) {
        const where = { before: parsePosition(query.get('before')), limit: pageSize + 1 };
        const found = await read(listConnections, person.account_id, where);
        return toPage(found, pageSize, (last) => ({ before: `${last.created_at}.${last.grant_id}` }));
      },
      row: (connection) => ({
        key: connection.grant_id,
        title: <AppName {...connection} />,
        lines: [
          [
            [
              'As ',
              <a href={`/console/agents/${connection.agent_id}`}>
                <Handle of={connection.handle} />
              </a>,
            ],
            ['redirects to ', <strong>{connection.redirect_host}</strong>],
          ],
          [<Scopes scopes={connection.scopes} />],
          [
            ['Since ', <Time at={connection.created_at} />],
            connection.last_used_at === null
              ? 'never used'
              : ['used ', <Time at={connection.last_used_at} />],
          ],
        ],
        buttons: [
          {
            label: 'Disconnect',
            action: 'end',
            hidden: { grant_id: connection.grant_id },
            about: `the app at ${connection.redirect_host}`,
          },
        ],
      }),
    }),
  ],
  changes: {
    async end({ form, person, write, parts }) {
      const grant_id = form.get('grant_id') ?? '';
      await parts.publishRevocations(await write(endConnection, person.account_id, grant_id));
      return 'App disconnected.';
    },
  },
});

/** A position in the list, `<milliseconds>.<grant id>`. It stays valid after the grant is gone. */
function parsePosition(text: string | null): { created_at: number; grant_id: string } | null {
  const [, time = '', grant_id = ''] = /^(\d{1,15})\.([\w-]{1,100})$/.exec(text ?? '') ?? [];
  return grant_id === '' ? null : { created_at: Number(time), grant_id };
}

/** The name of an app. Only the address of a client metadata document is verified. */
function AppName({ client_id, client_name }: Pick<Connection, 'client_id' | 'client_name'>) {
  if (client_id.startsWith('https://')) {
    return (
      <>
        <bdi>{hostOf(client_id)}</bdi> <Badge tone="good">Address verified</Badge>
        {client_name !== null && (
          <span class="unverified">
            {' '}
            claims to be <bdi>{client_name}</bdi>
          </span>
        )}
      </>
    );
  }
  if (isOwnClient(client_id)) {
    return (
      <>
        <bdi>{client_name}</bdi> <Badge tone="good">Part of this service</Badge>
      </>
    );
  }
  return (
    <>
      <span class="unverified">Claims to be</span> <bdi>{client_name ?? 'an app without a name'}</bdi>{' '}
      <Badge tone="warning">Not verified</Badge>
    </>
  );
}
