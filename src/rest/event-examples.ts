import { exampleMessage } from '../operations/examples.ts';

const cursor = 'MTA0Mg.c2lnbmF0dXJlLi4u';

/** A page of events as it could be. */
export const examplePage = {
  events: [
    {
      type: 'message.created',
      id: 'evt_01K9ZX6Q8V2W6Y8Z0A2C4E5F6G',
      cursor,
      created_at: exampleMessage.created_at,
      data: exampleMessage,
    },
  ],
  cursor,
  complete: true,
};
