import { hash, randomBytes } from 'node:crypto';
import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import type { ConversationPage } from '../../../../services/threads/conversation-page.ts';
import {
  countWatchView,
  findWatchLink,
  type OpenWatchLink,
  readWatchedConversation,
  signWatchedDownload,
} from '../../../../services/threads/watch-links.ts';
import { addressKey } from '../../../http/address-key.ts';
import { Empty } from '../../components/content.tsx';
import { useLayoutContext } from '../../components/layout-context.ts';
import { LiveRegion } from '../../components/live-region.tsx';
import { Handle } from '../../components/rows.tsx';
import { focusPage } from '../../define/focus-page.tsx';
import { publicPage, type ShownPage, type Visit } from '../../route.ts';
import { formatTime } from '../../time-zone.ts';
import { hasLatest, Members, OtherMessages } from '../conversations/conversation-view.tsx';
import { maxLiveMessages, readQuery, readSequence, startAt } from '../conversations/conversation.tsx';
import { MessageList } from '../conversations/messages.tsx';
import { titleOf } from '../conversations/rows.tsx';

const path = '/watch/:secret';

const secretOf = ({ params }: Pick<Visit, 'params'>): string => params['secret'] ?? '';

/** The pages of watch links. They need no account and no cookie, and lead to no other page. */
export const watchPages = [
  publicPage(path, async (visit) => {
    const { query, read, write } = visit;
    const link = await findLink(visit);
    if (!link) throw linkEnded();
    const input = readQuery(visit);
    const page = await read(readWatchedConversation, link, input);
    await write(countWatchView, link);
    const view = { page, link, secret: secretOf(visit), whole: input.whole };
    const live = new URLSearchParams({
      from: String(page.messages[0]?.sequence ?? 1),
      ...(input.whole !== null && { whole: query.get('whole') ?? '' }),
    });
    const body = (
      <LiveRegion
        id="live-thread"
        address={`/watch/${view.secret}/live?${live.toString()}`}
        cursor={hasLatest(page) ? cursorOf(view.secret, link) : undefined}
        label="Messages"
        follow
      >
        <WatchedContent {...view} />
      </LiveRegion>
    );
    return { title: titleOf(page.conversation), body, shell: 'watch' as const };
  }),
  publicPage(`${path}/live`, async (visit) => {
    const { ctx, query, read, parts } = visit;
    const [link, secret] = [await findLink(visit), secretOf(visit)];
    parts.live.serve(ctx, undefined, {
      target: 'live-thread',
      // A stream without a link ends at once.
      ...(link && { link: { id: link.id, readState: () => readState(visit) } }),
      async render() {
        if (!link) throw linkEnded();
        const found = await read(readWatchedConversation, link, { limit: maxLiveMessages });
        const page = startAt(found, readSequence(query.get('from')) ?? 1);
        const whole = readSequence(query.get('whole'));
        return { content: <WatchedContent page={page} link={link} secret={secret} whole={whole} /> };
      },
    });
    return 'handled' as const;
  }),
  publicPage(`${path}/files/:file`, async (visit) => {
    const { ctx, params, read } = visit;
    const link = await findLink(visit);
    if (!link) throw linkEnded();
    ctx.redirect(await read(signWatchedDownload, link, params['file'] ?? ''));
    return 'handled' as const;
  }),
];

/**
 * Finds the link of the address. Each secret that an address tries counts as a sign-in would; one that it has used within the minute does not.
 * @throws {DomainError} RATE_LIMITED
 */
async function findLink(visit: Visit): Promise<OpenWatchLink | undefined> {
  const { limits } = visit.parts;
  const address = addressKey(visit.ctx);
  await limits.consume('public', address);
  let isRepeated = false;
  await limits.consume('public', `${address} ${hash('sha256', secretOf(visit), 'base64url')}`, (state) => {
    isRepeated = state.remaining < state.points - 1;
  });
  if (!isRepeated) await limits.consume('sign_in_address', `${address} watch`);
  return visit.read(findWatchLink, secretOf(visit));
}

async function readState(visit: Visit) {
  const link = await visit.read(findWatchLink, secretOf(visit));
  return link && { agent_ids: [link.agent_id], cursor: cursorOf(secretOf(visit), link) };
}

/** Of this process: who has the link cannot compute a cursor, and so count the events of its member. */
const salt = randomBytes(16).toString('base64url');

/** Changes with the thread. */
const cursorOf = (secret: string, { last_entry }: OpenWatchLink): string =>
  hash('sha256', `${salt} ${secret} ${last_entry}`, 'base64url').slice(0, 16);

/** The same for a link that does not exist, has expired or was ended. */
const linkEnded = () =>
  new DomainError(
    'NOT_FOUND',
    'This link does not exist, or it has ended. Ask the person who sent it for another one.',
  );

const limitText = 'Too many requests came from your network. Wait a few minutes, then open the link again.';

/** The page for an error under a watch link, which leads nowhere. */
export function watchErrorPage({ status, retry_after }: DomainError): ShownPage {
  const texts: Record<number, readonly [title: string, text: string]> = {
    404: ['This conversation is not shown', linkEnded().message],
    429: ['Too many requests', limitText],
  };
  const [title, text] = texts[status] ?? ['Something went wrong', 'Open the link again in a minute.'];
  return focusPage(title, <p>{text}</p>, { status, retry_after, shell: 'watch' });
}

interface WatchedContentProps {
  page: ConversationPage;
  link: OpenWatchLink;
  secret: string;
  /** The sequence of the message that is shown whole. */
  whole: number | null;
}

/** What the page keeps up to date. */
function WatchedContent({ page, link, secret, whole }: WatchedContentProps) {
  const { timeZone } = useLayoutContext();
  const { conversation, messages } = page;
  const address = `/watch/${secret}`;
  const member = conversation.members.find(({ id }) => id === link.agent_id);
  const end = formatTime(link.expires_at, timeZone, { dateStyle: 'medium', timeStyle: 'short' });
  return (
    <>
      <header class="thread-head" id="head" aria-live="off">
        <div class="thread-title">
          <h1>
            <bdi>{titleOf(conversation)}</bdi>
          </h1>
          <p class="hint">
            You are watching this conversation through a link of{' '}
            <Handle of={member?.canonical_handle ?? ''} />. It ends {end}.
            {!link.allows_files && ' Files are not shown.'}
          </p>
        </div>
        <div class="thread-tools">
          <Members found={page} />
          <nav aria-label="Messages of this conversation">
            <OtherMessages page={page} address={address} />
          </nav>
        </div>
      </header>
      {messages.length === 0 ? (
        <Empty title="No messages">Messages appear here as soon as a member sends one.</Empty>
      ) : (
        <MessageList page={{ ...page, watchAddress: address }} whole={whole} />
      )}
    </>
  );
}
