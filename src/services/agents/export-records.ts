import type { ExportStage } from '../../domain/agents/erasure-and-export.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';

type Export = Pick<SystemWork, 'agentExport'>;

const messagesPerRead = 200;
const filesPerRead = 100;

/** A step ends with as many threads, however little was said in them. */
const threadsPerStep = 500;

/** A step ends with the page that brings it here, in characters. */
const maxPartLength = 4 * 1024 * 1024;

/** How far an export is: the last thread that was looked into, and up to where. */
interface Position {
  stage: ExportStage;
  thread_id: string;
  sequence: number;
}

/** What a step of an export gathers, and how far the export is then. */
export interface ExportStep {
  /** JSON objects, one a line, each with its `kind`. */
  text: string;
  counts: Record<string, number>;
  position: Position;
}

/**
 * The next part of everything that the service holds of an agent: first the agent itself, whom it trusts and blocks, what it may be
 * reached and signed in by (never what proves it), its approvals and files; then the threads that it is in, each with all that was said
 * there. Times in milliseconds. Pages are read one by one: what changes meanwhile may be in it or not.
 */
export async function readNextPart(
  { agentExport }: Export,
  { agent_id, stage, thread_id, sequence }: Position & { agent_id: string },
): Promise<ExportStep> {
  const page = createPart();
  if (stage === 'belongings') {
    for (const kind of agentExport.sections) page.add(await agentExport.section(kind, agent_id));
    return page.until({ stage: 'conversations', thread_id: '', sequence: 0 });
  }
  for (let thread = thread_id, after = sequence, threads = 0; ; after = 0, threads += 1) {
    for (let more = thread !== ''; more;) {
      const messages = await agentExport.messages(agent_id, thread, after, messagesPerRead);
      page.add(messages.map((message) => ({ kind: 'message', ...message })));
      after = messages.at(-1)?.sequence ?? after;
      more = messages.length === messagesPerRead;
      if (page.isFull()) return page.until({ stage, thread_id: thread, sequence: after });
    }
    if (threads === threadsPerStep) return page.until({ stage, thread_id: thread, sequence: after });
    const [next] = await agentExport.threads(agent_id, thread, 1);
    if (!next) return page.until({ stage: 'archive', thread_id: thread, sequence: after });
    page.add([{ kind: 'thread', ...next }]);
    thread = next.id;
  }
}

function createPart() {
  const counts: Record<string, number> = {};
  let text = '';
  return {
    add(lines: readonly { kind: string }[]): void {
      for (const line of lines) {
        counts[line.kind] = (counts[line.kind] ?? 0) + 1;
        text += `${JSON.stringify(line)}\n`;
      }
    },
    isFull: () => text.length >= maxPartLength,
    until: (position: Position): ExportStep => ({ text, counts, position }),
  };
}

/** The files that an agent uploaded, as far as they may be handed out, and where their bytes lie. */
export async function* listFilesOfAgent({ agentExport }: Export, agent_id: string) {
  for (let after = ''; ;) {
    const files = await agentExport.files(agent_id, after, filesPerRead);
    yield* files;
    if (files.length < filesPerRead) return;
    after = files.at(-1)?.id ?? after;
  }
}
