import type { History } from '../history.ts';
import type { ParsedFeed } from './event-data.ts';
import type { Violation } from './violation.ts';

/** Checks that every uploaded file was scanned once, with an event to its sender, and that other members download the same bytes. */
export function* checkFiles(history: History, feeds: readonly ParsedFeed[]): Generator<Violation> {
  const { uploads, downloads } = history;
  const files = new Map(
    uploads.flatMap(({ answers, file }) => (answers[0] ? [[answers[0].attachment_id, file]] : [])),
  );
  for (const { agent_id, answers } of uploads) {
    const [answer] = answers;
    if (!answer) continue;
    const where = `attachment.scanned of ${answer.attachment_id} in the feed of ${agent_id}`;
    const scans = (feeds.find((feed) => feed.agent_id === agent_id)?.events ?? []).flatMap((event) =>
      event.type === 'attachment.scanned' && event.data.attachment_id === answer.attachment_id
        ? event.data
        : [],
    );
    if (scans.length === 0) yield { kind: 'lost', detail: where };
    if (scans.length > 1) yield { kind: 'doubled', detail: where };
    if (scans.some(({ scan_status }) => scan_status !== 'clean'))
      yield { kind: 'changed', detail: `${where}: not clean` };
  }
  for (const { attachment_id, by, sha256 } of downloads) {
    if (files.get(attachment_id)?.sha256 === sha256) continue;
    yield { kind: 'changed', detail: `the file ${attachment_id} as ${by} downloads it` };
  }
  const got = new Set(downloads.map(({ attachment_id }) => attachment_id));
  const sent = history.sends.flatMap(({ answers, draft }) => (answers[0] ? draft.attachment_ids : []));
  for (const id of sent) if (!got.has(id)) yield { kind: 'lost', detail: `the file ${id}` };
}
