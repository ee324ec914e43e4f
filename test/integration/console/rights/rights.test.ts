import { beforeAll, describe, expect, test } from 'vitest';
import { openLivePage } from '../../../clients/live-page.ts';
import { useSharedService } from '../../../support/service.ts';
import {
  agentRules,
  formRules,
  type Kind,
  kinds,
  organizationRules,
  pageRules,
  type Role,
  roleNames,
  type Rule,
  testedElsewhere,
} from './table.ts';
import { fillForm } from '../signed-in-person.ts';
import { createRightsWorld, type Parameters, type RightsWorld } from './world.ts';

const service = useSharedService();
let world: RightsWorld;
beforeAll(async () => {
  world = await createRightsWorld(service);
});

test('the table has a row for every page of the router, and no other', () => {
  const pages = service.parts.pages.routes.filter(({ method }) => method === 'GET').map(({ path }) => path);
  expect([...Object.keys(pageRules), ...Object.keys(testedElsewhere)].toSorted()).toEqual(pages.toSorted());
});

const isLive = (path: string) => path.startsWith('/console/live/');

/** The address of a page about something that belongs to an agent. */
function fillPath(path: string, parameters: Parameters): string {
  const [, noun = ''] = /^\/console\/(?:live\/)?(\w+)\/:id/.exec(path) ?? [];
  const id = { agents: 'agent', conversations: 'thread', approvals: 'approval' }[noun] ?? '';
  return path.replaceAll(
    /:(\w+)/g,
    (_, name: string) => parameters[name === 'id' ? id : name] ?? `no ${name}`,
  );
}

/** How a page answers. */
type Outcome = 'shown' | 'absent' | 'forbidden' | 'sign in' | 'console' | number;

const outcomes: Readonly<Record<number, Outcome>> = { 200: 'shown', 403: 'forbidden', 404: 'absent' };

async function open(role: Role, address: string): Promise<Outcome> {
  const browser = world.browsers[role];
  if (!isLive(address)) {
    const { status, headers } = await browser.go(address, { follow: false });
    if (status === 303) return headers.get('location')?.startsWith('/sign-in?') ? 'sign in' : 'console';
    return outcomes[status] ?? status;
  }
  const stream = await openLivePage(service.url, browser, address);
  await expect.poll(() => stream.events.length).toBeGreaterThan(0);
  stream.close();
  return stream.events[0]?.type === 'end' ? 'absent' : 'shown';
}

/** How a page must answer. A stream ends, also without a session. */
function expectationOf(role: Role, { path, rule, allowed }: Row): Outcome {
  if (allowed.includes(role)) return 'shown';
  if (rule === 'signed out') return 'console';
  if (role === 'signed out' && !isLive(path)) return 'sign in';
  const isMember = organizationRules['is in the organization'].some((member) => member === role);
  return rule in organizationRules && isMember ? 'forbidden' : 'absent';
}

interface Row {
  path: string;
  rule: Rule;
  /** What the parameters of the path name. */
  about: Kind | 'organization';
  allowed: readonly Role[];
}

const signedIn = roleNames.filter((role) => role !== 'signed out');

function toRows([path, rule]: readonly [string, Rule]): Row[] {
  const about = 'organization';
  if (rule === 'everybody') return [{ path, rule, about, allowed: roleNames }];
  if (rule === 'signed out') return [{ path, rule, about, allowed: [rule] }];
  if (rule === 'signed in') return [{ path, rule, about, allowed: signedIn }];
  if (rule === 'manages' || rule === 'acts as')
    return kinds.map((kind) => ({ path, rule, about: kind, allowed: agentRules[rule][kind] }));
  return [{ path, rule, about, allowed: organizationRules[rule] }];
}

const rows = Object.entries(pageRules).flatMap(toRows);

describe('a page is shown to exactly the people whose role allows it', () => {
  test.each(rows)('$path, $about: $rule', async (row) => {
    const { path, about } = row;
    const address = fillPath(path, about === 'organization' ? world.organization : world.parameters[about]);
    const seen = await Promise.all(roleNames.map(async (role) => [role, await open(role, address)] as const));
    const expected = roleNames.map((role) => [role, expectationOf(role, row)] as const);
    expect(seen).toEqual(expected);
  });
});

test.each(rows.filter(({ path, rule }) => rule === 'signed in' && !isLive(path)))(
  '$path names no agent over which the person has no right',
  async ({ path }) => {
    for (const role of roleNames) {
      const foreign = kinds.filter((kind) => !(agentRules.manages[kind] as readonly Role[]).includes(role));
      const { text } = await world.browsers[role].go(path);
      for (const kind of foreign) {
        expect(text, `${role}, ${kind}`).not.toContain(world.parameters[kind]['agent']);
        expect(text, `${role}, ${kind}`).not.toContain(world.handles[kind]);
      }
    }
  },
);

/** The rule of a form of an agent: its own, or that of the page below which it is. */
function ruleOfForm(path: string): Rule {
  const parts = path.split('/');
  const pages = parts.map((_, index) => parts.slice(0, parts.length - index).join('/'));
  return formRules[path] ?? pageRules[pages.find((each) => each in pageRules) ?? ''] ?? 'everybody';
}

/** The last test: what is allowed is done. */
test('a form about an agent finds it for exactly the people whose role allows the form', async () => {
  const paths = service.parts.pages.routes.flatMap(({ method, path }) =>
    method === 'POST' && path.startsWith('/console/agents/:id') ? [path] : [],
  );
  expect(paths.length).toBeGreaterThan(30);
  for (const role of signedIn) {
    const browser = world.browsers[role];
    const home = await browser.go('/console');
    const found: string[] = [];
    const expected: string[] = [];
    for (const kind of kinds)
      for (const path of paths) {
        const form = fillForm(home, fillPath(path, world.parameters[kind]));
        const { status, visibleText } = await browser.send(form, { follow: false });
        if (status !== 404 || !visibleText.includes('No such agent')) found.push(`${kind} ${path}`);
        const allowed: readonly Role[] = agentRules[ruleOfForm(path) as keyof typeof agentRules][kind];
        if (allowed.includes(role)) expected.push(`${kind} ${path}`);
      }
    expect([role, ...found]).toEqual([role, ...expected]);
  }
});
