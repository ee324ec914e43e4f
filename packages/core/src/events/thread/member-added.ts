import { exampleAgents, exampleThread } from '../../records/examples.ts';
import { defineEvent } from '../define-event.ts';
import { exampleUpdatedThread, memberChange, ofMember } from './thread-data.ts';

const { planner, support, courier } = exampleAgents;

export const memberAdded = defineEvent({
  ...ofMember,
  type: 'thread.member_added',
  label: 'Member added to a thread',
  data: memberChange.meta({ id: 'ThreadMemberAdded', description: 'A member joined a thread.' }),
  example: {
    thread_id: exampleThread.id,
    member: courier,
    by: support,
    thread: { ...exampleUpdatedThread, members: [planner, support, courier] },
  },
});
