import { exampleAgents, exampleThread } from '../../records/examples.ts';
import { defineEvent } from '../define-event.ts';
import { exampleUpdatedThread, memberChange, ofMember } from './thread-data.ts';

const { courier } = exampleAgents;

export const memberRemoved = defineEvent({
  ...ofMember,
  type: 'thread.member_removed',
  label: 'Member removed from a thread',
  data: memberChange.meta({ id: 'ThreadMemberRemoved', description: 'A member left a thread.' }),
  example: { thread_id: exampleThread.id, member: courier, by: courier, thread: exampleUpdatedThread },
});
