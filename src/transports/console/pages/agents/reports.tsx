import type { ComponentChildren } from 'preact';
import type { Counts } from '../../../../domain/agents/erasure-and-export.ts';
import { type IdKind, isId } from '../../../../domain/ids.ts';
import type { Progress } from '../../../../presenters/progress.ts';
import { Handle } from '../../components/agent-rows.tsx';
import { Badge, Card, Empty, Heading } from '../../components/content.tsx';
import { NextPage } from '../../components/next-page.tsx';
import { Time } from '../../components/time.tsx';
import type { ShownPage } from '../../route.ts';

const pageSize = 10;

/** Which reports a page asks for: those before the one that its address names, and one more than it shows. */
export function readReportsQuery(query: URLSearchParams, kind: IdKind): { before: string; limit: number } {
  const given = query.get('before') ?? '';
  return { before: isId(kind, given) ? given : '', limit: pageSize + 1 };
}

interface ReportsPage<Report> {
  title: string;
  lead: string;
  /** Where it is. */
  path: string;
  /** "exports" */
  what: string;
  /** What brings a first one. */
  hint: string;
  /** As many as were wanted. */
  found: readonly Report[];
  show(report: Report): ComponentChildren;
}

/** What became of the agents of a person that something was begun with, newest first. */
export function reportsPage<Report extends { id: string }>({
  title,
  lead,
  path,
  what,
  hint,
  found,
  show,
}: ReportsPage<Report>): ShownPage {
  const shown = found.slice(0, pageSize);
  const last = found.length > pageSize ? shown.at(-1) : undefined;
  const body = (
    <>
      <Heading title={title} back={{ href: '/console/agents', text: 'Agents' }} lead={lead} />
      {shown.length === 0 && <Empty title="None">{hint}</Empty>}
      {shown.map(show)}
      <NextPage path={path} what={what} next={last && { before: last.id }} />
    </>
  );
  return { title, body };
}

interface ReportProps {
  of: Pick<Progress<unknown>, 'handle' | 'begun_at' | 'done_at'>;
  /** What it is when it is done, in a word. */
  done: string;
  /** What to come back for while it is under way. */
  awaited: string;
  /** A sentence on one that is done. */
  afterwards?: ComponentChildren;
  children: ComponentChildren;
}

/** One of them: whose it is, and how far. */
export function Report({ of, done, awaited, afterwards, children }: ReportProps) {
  const { handle, begun_at, done_at } = of;
  const badge =
    done_at === null ? <Badge tone="warning">Under way</Badge> : <Badge tone="good">{done}</Badge>;
  return (
    <Card title={<Handle of={handle} />} action={badge}>
      <p>
        Begun <Time at={begun_at} />
        {done_at === null ? (
          `. Come back later for ${awaited}.`
        ) : (
          <>
            , done <Time at={done_at} />. {afterwards}
          </>
        )}
      </p>
      {children}
    </Card>
  );
}

/** How many of what, without what there is none of; nothing where there is nothing. */
export function CountPoints({ of, children }: { of: Counts; children?: ComponentChildren }) {
  const shown = Object.entries(of).filter(([, count]) => count > 0);
  if (shown.length === 0 && !children) return null;
  return (
    <ul class="points">
      {shown.map(([kind, count]) => (
        <li key={kind}>
          {kind.replaceAll('_', ' ')}: {count}
        </li>
      ))}
      {children}
    </ul>
  );
}
