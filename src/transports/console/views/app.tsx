import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Notice } from '../components/content.tsx';
import { type LayoutContext, LayoutContextProvider } from '../components/layout-context.ts';
import { Approval } from './approval.tsx';
import { call, readError, readValue, type ToolResult, type ViewHost } from './host.ts';
import type { ConversationValue, InboxValue } from './results.ts';

/** The parts of a document that show results. Others are left out, so that each document stays small. */
export interface Parts {
  Conversation?: ComponentType<{ host: ViewHost; value: ConversationValue }>;
  Inbox?: ComponentType<{ host: ViewHost; value: InboxValue; onApproval: (approval_id: string) => void }>;
}

interface AppProps {
  parts: Parts;
  host: ViewHost;
  /** The result of the tool. Undefined: it is not there yet. */
  result: ToolResult | undefined;
  isCancelled: boolean;
}

/** A view inside a chat client: it shows the result of a tool as people read it. */
export function App({ parts, host, result, isCancelled }: AppProps) {
  // Of the context of a page a view has only this.
  const context = { timeZone: host.timeZone } as LayoutContext;
  return (
    <LayoutContextProvider value={context}>
      <main class="view">
        {result ? (
          <Result parts={parts} host={host} result={result} />
        ) : (
          <p class="calm" role="status">
            {isCancelled ? 'The call was canceled.' : 'Loading …'}
          </p>
        )}
      </main>
    </LayoutContextProvider>
  );
}

/** What a result of one of the tools can have. */
interface Value extends Partial<ConversationValue & InboxValue> {
  /** Of a message or a thread. */
  id?: string;
  thread_id?: string;
  message?: { thread_id: string };
}

/** The parts of a view that lead to each other. */
type Place = { thread_id: string } | { approval_id: string; url?: string | undefined } | undefined;

interface ResultProps {
  parts: Parts;
  host: ViewHost;
  result: ToolResult;
}

function Result({ parts: { Conversation, Inbox }, host, result }: ResultProps) {
  const [place, setPlace] = useState<Place>(() => findPlace(host, result));
  const { thread, messages, earlier = false, threads } = readValue(result) as Value;
  if (place && 'approval_id' in place)
    return (
      <>
        {threads && (
          <p>
            <button type="button" class="link" onClick={() => setPlace(undefined)}>
              Back to the inbox
            </button>
          </p>
        )}
        <Approval host={host} approval_id={place.approval_id} url={place.url} />
      </>
    );
  const error = readError(result);
  if (error) return <Notice tone="danger">{error.message ?? 'This did not work.'}</Notice>;
  if (Conversation && thread && messages)
    return <Conversation host={host} value={{ thread, messages, earlier }} />;
  if (Conversation && place)
    return <Loaded Conversation={Conversation} host={host} thread_id={place.thread_id} />;
  if (Inbox && threads)
    return <Inbox host={host} value={{ threads }} onApproval={(approval_id) => setPlace({ approval_id })} />;
  return <Notice tone="good">Done.</Notice>;
}

/** The conversation of a message that was sent, or the approval that a call waits for. */
function findPlace(host: ViewHost, result: ToolResult): Place {
  const error = readError(result);
  const { approval_id, approval_url: url } = error ?? {};
  if (error?.code === 'APPROVAL_REQUIRED' && approval_id !== undefined) return { approval_id, url };
  const value = readValue(result) as Value;
  const thread_id = value.message?.thread_id ?? value.thread_id ?? value.id;
  return host.canCall && thread_id?.startsWith('thd_') ? { thread_id } : undefined;
}

interface LoadedProps {
  Conversation: NonNullable<Parts['Conversation']>;
  host: ViewHost;
  thread_id: string;
}

/** A conversation of which only the id is known. */
function Loaded({ Conversation, host, thread_id }: LoadedProps) {
  const [value, setValue] = useState<ConversationValue>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    call(host, 'get_thread', { thread_id }).then(setValue, ({ message }: Error) => setError(message));
  }, [host, thread_id]);
  if (error !== undefined) return <Notice tone="danger">{error}</Notice>;
  return value ? <Conversation host={host} value={value} /> : <p class="calm">Loading …</p>;
}
