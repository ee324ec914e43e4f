import {
  endOtherSessions,
  endSession,
  listSessions,
  signOutEverywhere,
} from '../../../../services/people/sessions.ts';
import { Badge } from '../../components/content.tsx';
import { Time } from '../../components/rows.tsx';
import { checkboxField } from '../../define/fields.tsx';
import { definePage } from '../../define/page.tsx';

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

/** Lists and ends the browser sessions of a person. */
export const sessionsPage = definePage({
  path: '/console/sessions',
  load: async ({ read, person }) => ({ sessions: await read(listSessions, person.account_id) }),
  title: 'Sessions',
  lead: 'Browsers in which you are signed in. A session ends 30 days after its last use. Apps that act as your agents are listed under Connected apps.',
  sections: ({ form, button, list }) => [
    list({
      label: 'Browsers',
      empty: 'None.',
      read: ({ sessions }) => sessions,
      row(session, { person }) {
        const isCurrent = session.id === person.session_id;
        const name = browserName(session.user_agent);
        return {
          key: session.id,
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
              action: 'end',
              hidden: { id: session.id },
              about: isCurrent ? undefined : name,
            },
          ],
        };
      },
    }),
    button({
      name: 'end-others',
      title: 'Sign out other browsers',
      text: 'If you do not recognize a browser, sign out everywhere else and change your password.',
      isShown: ({ sessions }) => sessions.length > 1,
      button: 'Sign out everywhere else',
      kind: 'danger',
      async submit({ person, write }) {
        await write(endOtherSessions, person);
        return 'All other browsers are signed out.';
      },
    }),
    form({
      name: 'end-all',
      title: 'Sign out everywhere',
      fields: {
        apps: checkboxField(
          'Also disconnect all apps',
          'Apps that act as your agents lose access immediately and must ask you again.',
        ),
      },
      button: 'Sign out everywhere, including here',
      kind: 'danger',
      async submit({ ctx, person, parts, write }, { apps }) {
        const { ended } = await write(signOutEverywhere, person.account_id, { apps });
        await parts.publishRevocations(ended);
        await parts.sessions.end(ctx);
        const text = apps
          ? 'You are signed out everywhere and all apps are disconnected.'
          : 'You are signed out everywhere.';
        return { to: '/sign-in', flash: text };
      },
    }),
  ],
  changes: {
    async end({ ctx, form, person, parts, write }) {
      const id = form.get('id') ?? '';
      if (id !== person.session_id) {
        await write(endSession, person.account_id, id);
        return 'Browser signed out.';
      }
      await parts.sessions.end(ctx);
      return { to: '/sign-in', flash: 'You are signed out.' };
    },
  },
});
