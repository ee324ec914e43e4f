import {
  endOtherSessions,
  endSession,
  type ListedSession,
  listSessions,
  signOutEverywhere,
} from '../../../../services/people/sessions.ts';
import { Checkbox } from '../../components/choices.tsx';
import { Badge, Card, Icon } from '../../components/content.tsx';
import { Actions, Button, Form } from '../../components/form.tsx';
import { Time } from '../../components/rows.tsx';
import { listSection } from '../../define/list.tsx';
import { definePage, type PageVisit } from '../../define/page.tsx';
import { successFlash } from '../../flash.ts';

/** Specific names first, because most user agents also contain the names of other browsers. */
const browsers: readonly [RegExp, string][] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/Chrom(?:e|ium)\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const systems: readonly [RegExp, string][] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** A readable name for a User-Agent header, such as `Firefox on Linux`. For display only. */
export function browserName(user_agent: string): string {
  const findName = (table: typeof browsers) => table.find(([pattern]) => pattern.test(user_agent))?.[1];
  const browser = findName(browsers) ?? 'Unknown browser';
  const system = findName(systems);
  return system === undefined ? browser : `${browser} on ${system}`;
}

interface SessionsVisit extends PageVisit {
  sessions: readonly ListedSession[];
}

/** Lists and ends the browser sessions of a person. */
export const sessionsPage = definePage<SessionsVisit>({
  path: '/console/sessions',
  load: async (visit) => ({ ...visit, sessions: await visit.read(listSessions, visit.person.account_id) }),
  title: 'Sessions',
  lead: 'Browsers in which you are signed in. A session ends 30 days after its last use. Apps that act as your agents are listed under Connected apps.',
  sections: [
    listSection({
      label: 'Browsers',
      empty: 'None.',
      read: async ({ sessions }) => ({ items: sessions }),
      row(session, { address, person }) {
        const isCurrent = session.id === person.session_id;
        const name = browserName(session.user_agent);
        return {
          key: session.id,
          mark: <Icon name="computer" />,
          title: [name, isCurrent && [' ', <Badge tone="accent">This browser</Badge>]],
          lines: [
            [
              session.address,
              ['used ', <Time at={session.last_seen_at} />],
              ['signed in ', <Time at={session.created_at} />],
            ],
          ],
          buttons: [
            {
              label: 'Sign out',
              action: `${address}/end`,
              hidden: { id: session.id },
              about: isCurrent ? undefined : name,
            },
          ],
        };
      },
    }),
    ({ sessions, address }) =>
      sessions.length > 1 && (
        <Card title="Sign out other browsers">
          <p>If you do not recognize a browser, sign out everywhere else and change your password.</p>
          <Form action={`${address}/end-others`}>
            <Button kind="danger">Sign out everywhere else</Button>
          </Form>
        </Card>
      ),
    ({ address }) => (
      <Card title="Sign out everywhere">
        <Form action={`${address}/end-all`}>
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
    ),
  ],
  changes: {
    async end({ ctx, form, person, parts, write }) {
      const id = form.get('id') ?? '';
      if (id !== person.session_id) {
        await write(endSession, person.account_id, id);
        return 'Browser signed out.';
      }
      await parts.sessions.end(ctx);
      return { to: '/sign-in', flash: successFlash('You are signed out.') };
    },
    async 'end-others'({ person, write }) {
      await write(endOtherSessions, person);
      return 'All other browsers are signed out.';
    },
    async 'end-all'({ ctx, form, person, parts, write }) {
      const apps = form.has('apps');
      const { ended } = await write(signOutEverywhere, person.account_id, { apps });
      await parts.publishRevocations(ended);
      await parts.sessions.end(ctx);
      const text = apps
        ? 'You are signed out everywhere and all apps are disconnected.'
        : 'You are signed out everywhere.';
      return { to: '/sign-in', flash: successFlash(text) };
    },
  },
});
