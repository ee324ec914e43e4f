/** Appends the message `last` to an event stream, however it ends, so that the reader knows that all messages have been read. */
export function withEndMessage(response: Response, last: string): Response {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (!response.body || !isStream) return response;
  const reader = response.body.getReader();
  const lastEvent = new TextEncoder().encode(`\n\ndata: ${last}\n\n`);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (!done && value) {
        controller.enqueue(value);
        return;
      }
      controller.enqueue(lastEvent);
      controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
