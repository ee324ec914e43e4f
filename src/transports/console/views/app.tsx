import { useEffect, useState } from 'preact/hooks';
import { Notice } from '../components/content.tsx';
import { type LayoutContext, LayoutContextProvider } from '../components/layout-context.ts';
import { Conversation } from './conversation.tsx';
import { call, readError, readValue, type ToolResult, type ViewHost } from './host.ts';
import type { ConversationValue } from './results.ts';

interface AppProps {
  host: ViewHost;
  /** The result of the tool. Undefined: it is not there yet. */
  result: ToolResult | undefined;
  isCancelled: boolean;
}

/** A view inside a chat client: it shows the result of a tool as people read it. */
export function App({ host, result, isCancelled }: AppProps) {
  // Of the context of a page a view has only this.
  const context = { timeZone: host.timeZone } as LayoutContext;
  return (
    <LayoutContextProvider value={context}>
      <main class="view">
        {result ? (
          <Result host={host} result={result} />
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
interface Value extends Partial<ConversationValue> {
  message?: { thread_id: string };
}

function Result({ host, result }: { host: ViewHost; result: ToolResult }) {
  const error = readError(result);
  if (error) return <Notice tone="danger">{error.message ?? 'This did not work.'}</Notice>;
  const { thread, messages, earlier = false, message } = readValue(result) as Value;
  if (thread && messages) return <Conversation host={host} value={{ thread, messages, earlier }} />;
  if (message && host.canCall) return <Loaded host={host} thread_id={message.thread_id} />;
  return <Notice tone="good">Done.</Notice>;
}

/** A conversation of which only the id is known. */
function Loaded({ host, thread_id }: { host: ViewHost; thread_id: string }) {
  const [value, setValue] = useState<ConversationValue>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    call(host, 'get_thread', { thread_id }).then(setValue, ({ message }: Error) => setError(message));
  }, [host, thread_id]);
  if (error !== undefined) return <Notice tone="danger">{error}</Notice>;
  return value ? <Conversation host={host} value={value} /> : <p class="calm">Loading …</p>;
}
