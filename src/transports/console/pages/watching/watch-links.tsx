import { type Conversation, requireConversation } from '../../../../services/threads/conversations.ts';
import { createWatchLink, endWatchLinks, listWatchLinks } from '../../../../services/threads/watch-links.ts';
import { PostButton } from '../../components/form.tsx';
import { Handle, Time, toAgentOptions } from '../../components/rows.tsx';
import { secretPage } from '../../components/secrets.tsx';
import { checkboxField, selectField } from '../../define/fields.tsx';
import { definePage } from '../../define/page.tsx';
import { conversationAddress, conversationsAddress } from '../conversations/filters.tsx';
import { titleOf } from '../conversations/rows.tsx';

/** The path of the page on which a conversation is shared. */
export const watchLinksAddress = (thread_id: string): string => `${conversationAddress(thread_id)}/watch`;

const hourMs = 3_600_000;

const durations = [
  { value: '1', text: '1 hour' },
  { value: '24', text: '1 day' },
  { value: '168', text: '7 days' },
  { value: '720', text: '30 days' },
];

/** The links with which people without an account read a conversation. */
export const watchLinksPage = definePage({
  path: `${conversationsAddress}/:id/watch`,
  async load({ params, person, read }) {
    const reader = { account_id: person.account_id };
    return { conversation: await read(requireConversation, reader, params['id'] ?? '') };
  },
  title: 'Share to watch',
  back: ({ conversation }) => ({
    href: conversationAddress(conversation.id),
    text: titleOf(conversation),
  }),
  lead: 'Everyone who has the link can read the conversation, without an account, as messages arrive. They cannot write.',
  sections: ({ form, list }) => [
    form({
      title: 'New link',
      text: 'All members see that the conversation is watched, and through a link of which agent.',
      fields: ({ conversation }) => ({
        agent_id: selectField('Your agent', toAgentOptions(conversation.agents)),
        lasts: selectField('Ends after', durations),
        files: checkboxField('Show files', 'Readers can open and download them.'),
      }),
      values: () => ({ lasts: '24' }),
      errors: { AGENT_NOT_FOUND: 'agent_id' },
      button: 'Create link',
      async submit({ write, person, conversation: { id: thread_id } }, { agent_id, lasts, files }) {
        const input = { thread_id, agent_id, allows_files: files, duration_ms: Number(lasts) * hourMs };
        const address = await write(createWatchLink, person.account_id, input);
        return secretPage({
          heading: <h1>Link to watch</h1>,
          secrets: [{ label: 'Address', value: address }],
          text: <p>Send it only to people who may read the whole conversation.</p>,
          next: watchLinksAddress(thread_id),
        });
      },
    }),
    list({
      title: 'Open links',
      label: 'Open links',
      empty: 'No link is open.',
      read: ({ read, person, conversation }) => read(listWatchLinks, person.account_id, conversation.id),
      row: ({ id, canonical_handle, made_by, expires_at, allows_files, views, viewed_at }, { address }) => ({
        key: id,
        title: <Handle of={canonical_handle} />,
        lines: [
          [`Made by ${made_by}`, <>Ends {<Time at={expires_at} />}</>, allows_files && 'Shows files'],
          [
            views === 0 ? 'Not opened' : `Opened ${views} ${views === 1 ? 'time' : 'times'}`,
            viewed_at !== null && <>Last {<Time at={viewed_at} />}</>,
          ],
        ],
        buttons: [
          {
            label: 'End',
            action: `${address}/end`,
            hidden: { which: id },
            about: `the link of ${canonical_handle}`,
          },
        ],
      }),
    }),
  ],
  changes: {
    async end({ write, person, form, conversation: { id: thread_id } }) {
      await write(endWatchLinks, person.account_id, { thread_id, which: form.get('which') ?? '' });
      return 'Ended. The members are told.';
    },
  },
});

/** The head of a conversation says for each member with open links that it is watched. */
export function Watches({
  conversation: { id, agents, members, watched_by },
}: {
  conversation: Conversation;
}) {
  return (
    <>
      {members.map((member) => {
        const links = watched_by.filter((watch) => watch.canonical_handle === member.canonical_handle);
        const ends = links.map(({ expires_at }) => expires_at);
        if (links.length === 0) return null;
        return (
          <div class="agent-line" id={`watched-${member.id}`} key={member.id}>
            <span>
              Watched through {ends.length === 1 ? 'a link' : `${ends.length} links`} of{' '}
              <Handle of={member.canonical_handle} />, ends <Time at={Math.max(...ends)} />
            </span>
            {agents.some((agent) => agent.id === member.id) && (
              <PostButton
                label="End"
                about={`the links of ${member.canonical_handle}`}
                action={`${watchLinksAddress(id)}/end`}
                hidden={{ which: member.id }}
              />
            )}
          </div>
        );
      })}
    </>
  );
}
