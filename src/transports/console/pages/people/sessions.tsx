import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { authorFromPerson } from '../../../../../packages/core/src/domain/auth/audit.ts';
import type { Person } from '../../../../../packages/core/src/domain/auth/actor.ts';
import {
  endOtherSessions,
  endSession,
  listSessions,
  signOutEverywhere,
} from '../../../../services/people/sessions.ts';
import { successFlash } from '../../flash.ts';
import { Checkbox } from '../../components/choices.tsx';
import { Badge, Card, Heading } from '../../components/content.tsx';
import { Actions, Button, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { browserName } from './browser-name.ts';

/** Lists and ends the browser sessions of a person. */
export function sessionRoutes({ unitOfWork, sessions, publishRevocations }: PageParts): ConsoleRoute[] {
  return [
    page('/console/sessions', async ({ person }) => {
      const list = await unitOfWork.read(system, (work) => listSessions(work, person.account_id));
      return sessionsPage(person, list);
    }),
    action('/console/sessions/end', async ({ ctx, form, person }) => {
      const id = form.get('id') ?? '';
      if (id === person.session_id) {
        await sessions.end(ctx);
        return { to: '/sign-in', flash: successFlash('You are signed out.') };
      }
      await unitOfWork.write(system, (work) => endSession(work, person.account_id, id));
      return { to: '/console/sessions', flash: successFlash('Browser signed out.') };
    }),
    action('/console/sessions/end-others', async ({ person }) => {
      await unitOfWork.write(authorFromPerson(person), (work) => endOtherSessions(work, person));
      return { to: '/console/sessions', flash: successFlash('All other browsers are signed out.') };
    }),
    action('/console/sessions/end-all', async ({ ctx, form, person }) => {
      const apps = form.has('apps');
      const { ended } = await unitOfWork.write(authorFromPerson(person), (work) =>
        signOutEverywhere(work, person.account_id, { apps }),
      );
      await publishRevocations(ended);
      await sessions.end(ctx);
      const text = apps
        ? 'You are signed out everywhere and all apps are disconnected.'
        : 'You are signed out everywhere.';
      return { to: '/sign-in', flash: successFlash(text) };
    }),
  ];
}

type Session = Awaited<ReturnType<typeof listSessions>>[number];

function sessionsPage(person: Person, sessions: readonly Session[]): ShownPage {
  const rows = sessions.map((session) => {
    const isCurrent = session.id === person.session_id;
    return {
      key: session.id,
      mark: <Icon name="computer" />,
      title: (
        <>
          {browserName(session.user_agent)} {isCurrent && <Badge tone="accent">This browser</Badge>}
        </>
      ),
      text: (
        <>
          {session.address} · used <Time at={session.last_seen_at} /> · signed in{' '}
          <Time at={session.created_at} />
        </>
      ),
      side: (
        <Form action="/console/sessions/end" class="inline" hidden={{ id: session.id }}>
          <Button kind="quiet">
            Sign out{!isCurrent && <span class="visually-hidden"> {browserName(session.user_agent)}</span>}
          </Button>
        </Form>
      ),
    };
  });
  const body = (
    <>
      <Heading
        title="Sessions"
        lead="Browsers in which you are signed in. A session ends 30 days after its last use. Apps that act as your agents are listed under Connected apps."
      />
      <Card>
        <Rows label="Browsers" rows={rows} />
      </Card>
      {sessions.length > 1 && (
        <Card title="Sign out other browsers">
          <p>If you do not recognize a browser, sign out everywhere else and change your password.</p>
          <Form action="/console/sessions/end-others">
            <Button kind="danger">Sign out everywhere else</Button>
          </Form>
        </Card>
      )}
      <Card title="Sign out everywhere">
        <Form action="/console/sessions/end-all">
          <Checkbox
            name="apps"
            label="Also disconnect all apps"
            hint="Apps that act as your agents lose access immediately and must ask you again."
          />
          <Actions>
            <Button kind="danger">Sign out everywhere, including here</Button>
          </Actions>
        </Form>
      </Card>
    </>
  );
  return { title: 'Sessions', body };
}
