// void kw_switch(void** save_sp, void* load_sp): leaves the running stack and goes on with another. Callee-saved registers
// are kept on the stack that is left (System V AMD64 ABI).
#if defined(__x86_64__)
    .text
    .globl kw_switch
    .type kw_switch, @function
kw_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size kw_switch, .-kw_switch
#endif
    .section .note.GNU-stack,"",@progbits
