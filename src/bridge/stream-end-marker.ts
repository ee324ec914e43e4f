/**
 * The same answer; when its event stream ends, however it does, `last` is said in it. So what was said before has been heard by
 * then, and nobody waits for more.
 */
export function withEndMessage(response: Response, last: string): Response {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (!response.body || !isStream) return response;
  const reader = response.body.getReader();
  const ending = new TextEncoder().encode(`\n\ndata: ${last}\n\n`);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (!done && value) {
        controller.enqueue(value);
        return;
      }
      controller.enqueue(ending);
      controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
