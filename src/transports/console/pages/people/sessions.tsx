import { authorFromPerson } from '../../../../domain/auth/audit.ts';
import type { Person } from '../../../../domain/auth/person.ts';
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

/** The browsers in which a person is signed in, and signing out of them. */
export function sessionRoutes({ unitOfWork, sessions, publishRevocations }: PageParts): ConsoleRoute[] {
  return [
    page('/console/sessions', async ({ person }) => {
      const all = await unitOfWork.readAsSystem((work) => listSessions(work, person.account_id));
      return sessionsPage(person, all);
    }),
    action('/console/sessions/end', async ({ ctx, form, person }) => {
      const id = form.get('id') ?? '';
      if (id === person.session_id) {
        await sessions.end(ctx);
        return { to: '/sign-in', flash: successFlash('You are signed out.') };
      }
      await unitOfWork.writeAsSystem((work) => endSession(work, person.account_id, id));
      return { to: '/console/sessions', flash: successFlash('That browser is signed out.') };
    }),
    action('/console/sessions/end-others', async ({ person }) => {
      await unitOfWork.writeAsSystem((work) => endOtherSessions(work, person), authorFromPerson(person));
      return { to: '/console/sessions', flash: successFlash('Every other browser is signed out.') };
    }),
    action('/console/sessions/end-all', async ({ ctx, form, person }) => {
      const apps = form.has('apps');
      const { ended } = await unitOfWork.writeAsSystem(
        (work) => signOutEverywhere(work, person.account_id, { apps }),
        authorFromPerson(person),
      );
      await publishRevocations(ended);
      await sessions.end(ctx);
      const text = apps
        ? 'You are signed out everywhere, and no app is connected.'
        : 'You are signed out everywhere.';
      return { to: '/sign-in', flash: successFlash(text) };
    }),
  ];
}

type Session = Awaited<ReturnType<typeof listSessions>>[number];

function sessionsPage(person: Person, sessions: readonly Session[]): ShownPage {
  const rows = sessions.map((session) => {
    const here = session.id === person.session_id;
    return {
      key: session.id,
      mark: <Icon name="computer" />,
      title: (
        <>
          {browserName(session.user_agent)} {here && <Badge tone="accent">This browser</Badge>}
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
            Sign out{!here && <span class="unseen"> {browserName(session.user_agent)}</span>}
          </Button>
        </Form>
      ),
    };
  });
  const body = (
    <>
      <Heading
        title="Sessions"
        lead="Where you are signed in with a browser. A session ends 30 days after its last use. Apps that act as your agents are under Connected apps."
      />
      <Card>
        <Rows label="Browsers" rows={rows} />
      </Card>
      {sessions.length > 1 && (
        <Card title="Something you do not know?">
          <p>Sign out everywhere else, then change your password.</p>
          <Form action="/console/sessions/end-others">
            <Button kind="danger">Sign out everywhere else</Button>
          </Form>
        </Card>
      )}
      <Card title="Sign out everywhere">
        <Form action="/console/sessions/end-all">
          <Checkbox
            name="apps"
            label="Disconnect every app too"
            hint="Apps that act as your agents stop at once, and must ask you again."
          />
          <Actions>
            <Button kind="danger">Sign out everywhere, here too</Button>
          </Actions>
        </Form>
      </Card>
    </>
  );
  return { title: 'Sessions', body };
}
