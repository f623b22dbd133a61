// Pages that are read from the disk may not start workers. There, the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      this.terminate = () => frame.remove();
      this.ready = new Promise(resolve => {
        this.inner.document.open();
        this.inner.answer = data => this.dispatchEvent(new MessageEvent("message", { data }));
        this.inner.begin = resolve;
        this.inner.document.write(`<script>
          self.postMessage = data => setTimeout(() => answer(data), 0);
          self.importScripts = () => {};
        <\/script><script src="${url}"><\/script><script>begin()<\/script>`);
        this.inner.document.close();
      });
    }
    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
