import type { ComponentChildren } from 'preact';
import type { Counts } from '../../../../../packages/core/src/domain/agents/erasure-and-export.ts';
import { type IdKind, isId } from '../../../../../packages/core/src/domain/ids.ts';
import type { Progress } from '../../../../../packages/core/src/records/progress.ts';
import { Handle } from '../../components/agent-rows.tsx';
import { Badge, Card, Empty, Heading } from '../../components/content.tsx';
import { NextPage } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import type { ShownPage } from '../../route.ts';

const pageSize = 10;

/** Reads the page position of a report list. The limit is one more than a page shows. */
export function readReportsQuery(query: URLSearchParams, kind: IdKind): { before: string; limit: number } {
  const before = query.get('before') ?? '';
  return { before: isId(kind, before) ? before : '', limit: pageSize + 1 };
}

interface ReportsPage<Report> {
  title: string;
  lead: string;
  /** Path of the page. */
  path: string;
  /** Plural name of the reports, such as "exports". */
  noun: string;
  /** Shown when there are none. */
  hint: string;
  /** One more than a page shows if there is a next page. */
  found: readonly Report[];
  show(report: Report): ComponentChildren;
}

/** A page of reports on exports or erasures, newest first. */
export function reportsPage<Report extends { id: string }>({
  title,
  lead,
  path,
  noun,
  hint,
  found,
  show,
}: ReportsPage<Report>): ShownPage {
  const reports = found.slice(0, pageSize);
  const last = found.length > pageSize ? reports.at(-1) : undefined;
  const body = (
    <>
      <Heading title={title} back={{ href: '/console/agents', text: 'Agents' }} lead={lead} />
      {reports.length === 0 && <Empty title={`No ${noun} yet`}>{hint}</Empty>}
      {reports.map(show)}
      <NextPage path={path} noun={noun} next={last && { before: last.id }} />
    </>
  );
  return { title, body };
}

interface ReportProps {
  of: Pick<Progress<unknown>, 'handle' | 'begun_at' | 'done_at'>;
  /** Label of a finished report. */
  doneLabel: string;
  /** Sentence for an unfinished report. */
  pendingText: string;
  /** Sentence for a finished report. */
  doneText?: ComponentChildren;
  children: ComponentChildren;
}

/** One report with its state. */
export function Report({ of, doneLabel, pendingText, doneText, children }: ReportProps) {
  const { handle, begun_at, done_at } = of;
  const badge =
    done_at === null ? <Badge tone="warning">In progress</Badge> : <Badge tone="good">{doneLabel}</Badge>;
  return (
    <Card title={<Handle of={handle} />} action={badge}>
      <p>
        Started <Time at={begun_at} />
        {done_at === null ? (
          `. ${pendingText}`
        ) : (
          <>
            , finished <Time at={done_at} />. {doneText}
          </>
        )}
      </p>
      {children}
    </Card>
  );
}

/** A list of counts above 0. Renders nothing if it is empty. */
export function CountPoints({ counts, children }: { counts: Counts; children?: ComponentChildren }) {
  const positive = Object.entries(counts).filter(([, count]) => count > 0);
  if (positive.length === 0 && !children) return null;
  return (
    <ul class="bullets">
      {positive.map(([kind, count]) => (
        <li key={kind}>
          {kind.replaceAll('_', ' ')}: {count}
        </li>
      ))}
      {children}
    </ul>
  );
}
