import { authorFromPerson } from '../../../../domain/auth/audit.ts';
import { type Connection, endConnection, listConnections } from '../../../../services/auth/connections.ts';
import { hostOf, isOnDevice } from '../../hosts.ts';
import { Handle } from '../../components/agent-rows.tsx';
import { Badge, Card, Empty, Heading } from '../../components/content.tsx';
import { Button, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Rows } from '../../components/rows.tsx';
import { NextPage } from '../../components/next-page.tsx';
import { Scopes } from './scope-choices.tsx';
import { Time } from '../../components/time.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';

const path = '/console/connections';
const pageSize = 25;

/** The apps that a person has let act as their agents, and taking that back. */
export function connectionRoutes({ unitOfWork, publishRevocations }: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ query, person }) => {
      const where = { before: parsePosition(query.get('before')), limit: pageSize + 1 };
      const found = await unitOfWork.readAsSystem((all) => listConnections(all, person.account_id, where));
      return connectionsPage(found);
    }),
    action(`${path}/end`, ({ form, person }) =>
      redirectOrWarn(path, async () => {
        const grant_id = form.get('grant_id') ?? '';
        const ended = await unitOfWork.writeAsSystem(
          (work) => endConnection(work, person.account_id, grant_id),
          authorFromPerson(person),
        );
        await publishRevocations(ended);
        return 'The app is disconnected.';
      }),
    ),
  ];
}

/** A place in the list, which stays one when what stood there is gone: `<milliseconds>.<grant id>`. */
function parsePosition(given: string | null): { created_at: number; grant_id: string } | null {
  const [, time = '', grant_id = ''] = /^(\d{1,15})\.([\w-]{1,100})$/.exec(given ?? '') ?? [];
  return grant_id === '' ? null : { created_at: Number(time), grant_id };
}

function connectionsPage(found: readonly Connection[]): ShownPage {
  const connections = found.slice(0, pageSize);
  const last = found.length > pageSize ? connections.at(-1) : undefined;
  const body = (
    <>
      <Heading
        title="Connected apps"
        lead="Apps that may act as one of your agents because you let them. Disconnecting one ends its access at once; webhooks that it made are the agent’s, and stay there."
      />
      {connections.length === 0 ? (
        <Empty title="No apps yet">
          An app that connects sends you here to ask. Give it the address of this service.
        </Empty>
      ) : (
        <Card>
          <Rows label="Connected apps" rows={connections.map(connectionRow)} />
        </Card>
      )}
      <NextPage path={path} what="apps" next={last && { before: `${last.created_at}.${last.grant_id}` }} />
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
        · answers go to <strong>{redirect_host}</strong>
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
          Disconnect<span class="unseen"> the app at {redirect_host}</span>
        </Button>
      </Form>
    ),
  };
}

/** What an app is called: certain where its own address says it, a claim of the app otherwise. */
function AppName({ client_id, client_name }: Pick<Connection, 'client_id' | 'client_name'>) {
  if (client_id.startsWith('https://')) {
    return (
      <>
        <bdi>{hostOf(client_id)}</bdi> <Badge tone="good">Address verified</Badge>
        {client_name !== null && (
          <span class="claim">
            {' '}
            calls itself <bdi>{client_name}</bdi>
          </span>
        )}
      </>
    );
  }
  return (
    <>
      <span class="claim">It says it is</span> <bdi>{client_name ?? 'an app without a name'}</bdi>{' '}
      <Badge tone="warning">Not verified</Badge>
    </>
  );
}
