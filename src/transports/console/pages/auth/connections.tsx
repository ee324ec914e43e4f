import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { authorFromPerson } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { type Connection, endConnection, listConnections } from '../../../../services/auth/connections.ts';
import { isOwnClient } from '../../../http/authorization-requests.ts';
import { hostOf, isOnDevice } from '../../hosts.ts';
import { Handle } from '../../components/agent-rows.tsx';
import { Badge, Card, Empty, Heading } from '../../components/content.tsx';
import { Button, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Rows } from '../../components/rows.tsx';
import { NextPage } from '../../components/rows.tsx';
import { Scopes } from './scope-choices.tsx';
import { Time } from '../../components/time.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';

const path = '/console/connections';
const pageSize = 25;

/** The apps connected to a person's agents, and disconnecting them. */
export function connectionRoutes({ unitOfWork, publishRevocations }: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ query, person }) => {
      const where = { before: parsePosition(query.get('before')), limit: pageSize + 1 };
      const found = await unitOfWork.read(system, (work) => listConnections(work, person.account_id, where));
      return connectionsPage(found);
    }),
    action(`${path}/end`, ({ form, person }) =>
      redirectOrWarn(path, async () => {
        const grant_id = form.get('grant_id') ?? '';
        const revoked = await unitOfWork.write(authorFromPerson(person), (work) =>
          endConnection(work, person.account_id, grant_id),
        );
        await publishRevocations(revoked);
        return 'App disconnected.';
      }),
    ),
  ];
}

/** A position in the list, `<milliseconds>.<grant id>`. It stays valid after the grant is gone. */
function parsePosition(text: string | null): { created_at: number; grant_id: string } | null {
  const [, time = '', grant_id = ''] = /^(\d{1,15})\.([\w-]{1,100})$/.exec(text ?? '') ?? [];
  return grant_id === '' ? null : { created_at: Number(time), grant_id };
}

function connectionsPage(found: readonly Connection[]): ShownPage {
  const connections = found.slice(0, pageSize);
  const last = found.length > pageSize ? connections.at(-1) : undefined;
  const body = (
    <>
      <Heading
        title="Connected apps"
        lead="Apps that you allowed to act as one of your agents. Disconnecting an app ends its access immediately. Webhooks that it created stay with the agent."
      />
      {connections.length === 0 ? (
        <Empty title="No apps yet">
          Enter the address of this service in an app. The app then asks you here for permission.
        </Empty>
      ) : (
        <Card>
          <Rows label="Connected apps" rows={connections.map(connectionRow)} />
        </Card>
      )}
      <NextPage path={path} noun="apps" next={last && { before: `${last.created_at}.${last.grant_id}` }} />
    </>
  );
  return { title: 'Connected apps', body };
}

function connectionRow(connection: Connection) {
  const { grant_id, agent_id, handle, redirect_host, scopes, created_at, last_used_at } = connection;
  return {
    key: grant_id,
    mark: <Icon name={isOnDevice(redirect_host) ? 'computer' : 'globe'} />,
    title: <AppName {...connection} />,
    text: (
      <>
        As{' '}
        <a href={`/console/agents/${agent_id}`}>
          <Handle of={handle} />
        </a>{' '}
        · redirects to <strong>{redirect_host}</strong>
        <br />
        <Scopes scopes={scopes} />
        <br />
        Since <Time at={created_at} /> ·{' '}
        {last_used_at === null ? (
          'never used'
        ) : (
          <>
            used <Time at={last_used_at} />
          </>
        )}
      </>
    ),
    side: (
      <Form action={`${path}/end`} class="inline" hidden={{ grant_id }}>
        <Button kind="quiet">
          Disconnect<span class="visually-hidden"> the app at {redirect_host}</span>
        </Button>
      </Form>
    ),
  };
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
