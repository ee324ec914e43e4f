import type { ContactRequestAttempt, MemberChange, WebhookAttempt } from '../history.ts';
import { attemptContactRequest, attemptMemberChange, attemptWebhook } from './actions.ts';
import type { LoadContext } from './context.ts';
import { newAttempt } from './retry.ts';

/** Webhooks of a run. */
const maxWebhooks = 6;

/** Contact requests, members of threads, and webhooks. Each action resolves when it is acknowledged or abandoned. */
export function createAgentActions(context: LoadContext) {
  const { base, agents, threads, random, history, retry, receiver, findAgent, pickMember, act } = context;
  const ids = agents.map(({ id }) => id);
  const strangers = random.sample(
    agents.flatMap((one, index) => agents.slice(index + 1).map((other) => [one, other] as const)),
    agents.length ** 2,
  );

  return {
    async requestContact() {
      const pair = strangers.pop();
      if (!pair) return;
      const [sender, recipient] = pair;
      const attempt: ContactRequestAttempt = { ...newAttempt(sender), to: recipient.id };
      history.contact_requests.push(attempt);
      await retry.withKey(attempt, () => attemptContactRequest(base, sender, attempt, recipient.handle));
    },
    addMember: () =>
      act(async ({ thread_id, add }, by) =>
        add(ids, (member_id) => {
          const attempt: MemberChange = { ...newAttempt(by), kind: 'added', thread_id, member_id };
          history.member_changes.push(attempt);
          return retry.withKey(attempt, () => attemptMemberChange(base, by, attempt, findAgent(member_id)));
        }),
      ),
    async removeMember() {
      const thread = random.pick(threads);
      const { thread_id } = thread;
      await thread.remove((member_id) => {
        const member = findAgent(member_id);
        const by = random.chance(0.5) ? member : pickMember(thread);
        const attempt: MemberChange = { ...newAttempt(by), kind: 'removed', thread_id, member_id };
        history.member_changes.push(attempt);
        return thread.act(by.id, () =>
          retry.once(attempt, () => attemptMemberChange(base, by, attempt, member)),
        );
      });
    },
    async createWebhook() {
      if (!receiver || history.webhooks.length >= maxWebhooks) return;
      const agent = random.pick(agents);
      const attempt: WebhookAttempt = { ...newAttempt(agent), posts: [] };
      history.webhooks.push(attempt);
      const url = receiver.addUrl((post) => void attempt.posts.push(post));
      await retry.withKey(attempt, () => attemptWebhook(base, agent, attempt, url));
    },
  };
}
